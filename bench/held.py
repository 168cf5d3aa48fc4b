"""The tables of what is held to targets and of what it is compared with, from an Outcome."""

from rounds import verdict
from outcome import Program
from tables import as_ratio, digits, grid, made_by, milliseconds, time_cell
from targets import VALUES

BOLD = {"missed": "**missed**", "wrong": "**wrong**"}


def held_points(outcome, which):
    """[(program, point)] of what is held to targets: `which` is Program.largest or .in_cache."""
    return [(p, point) for p in outcome.programs.values() if (point := which(p)) and point.held]


def cell(point, system, key):
    return as_ratio(point.get(system, key), point.get(system, "rounds"))


def target_row(program, point, system):
    """What a system takes beside OpenMP C."""
    found = program.verdict(point, system)
    return [program.title, program.kind, f"{point.n:,}", time_cell(point, system),
            time_cell(point, "openmp"), cell(point, system, "ratio"),
            point.get(system, "rounds") or "", digits(program.target), BOLD.get(found, found)]


TARGET_HEADER = ["program", "kind", "size", "{}, ms", "OpenMP C, ms", "ratio", "rounds", "target",
                 "verdict"]


def count_verdicts(outcome, points, system):
    found = [p.verdict(point, system) for p, point in points]
    return f"{outcome.title(system)}: " + ", ".join(
        f"{found.count(kind)} {kind}" for kind in ("met", "missed", "undecided", "wrong")
        if found.count(kind) or kind != "wrong")


def target_table(outcome, which, remarks=False):
    """A row for each program; below, remarks on those that are not met."""
    rows, points = [], held_points(outcome, which)
    for p, point in points:
        compiled = point.ratio("ravel-native")
        rows.append([*target_row(p, point, "ravel"), f"{compiled[0]:.2f}" if compiled else "",
                     cell(point, "openmp-again", "ratio")])
    if not rows:
        return []
    header = [h.format(outcome.title("ravel")) for h in TARGET_HEADER]
    lines = grid([*header, "compiled", "OpenMP C, again"], rows)
    lines += [count_verdicts(outcome, points, "ravel") + ".", ""]
    notes = [f"* {p.title}: {p.remark}" for p, point in points
             if remarks and p.remark and p.verdict(point, "ravel") not in ("met", "")]
    return lines + notes + ([""] if notes else [])


def targets(outcome):
    lines = target_table(outcome, Program.largest, remarks=True)
    return lines and [*HELD_TEXT, "", *lines, *made_by(outcome, list(outcome.programs.values()),
                                                       " --largest")]


HELD_TEXT = (
    "Time over that of OpenMP C on as many threads; targets are those of `bench/targets.def`.",
    "A row is met or missed if all of the ratio's range is on one side of the target. It is",
    "undecided if not, and where OpenMP C against itself is not met. `ravel` compiles superoperators",
    "while it runs; *compiled* has all of them compiled.")


def against_itself(outcome):
    """OpenMP C as another contender: what is not met here says how little a row means."""
    points = [(p, point) for which in (Program.largest, Program.in_cache)
              for p, point in held_points(outcome, which) if point.ratio("openmp-again")]
    rows = [target_row(p, point, "openmp-again") for p, point in points]
    if not rows:
        return []
    return ["The same binary twice, in turns like the others. It is met if all of the range is within",
            "the target and its inverse; if not, the machine was too noisy for this program, and",
            "the rows above are undecided.", "",
            *grid([h.format("again") for h in TARGET_HEADER], rows),
            count_verdicts(outcome, points, "openmp-again") + ".", ""]


def first_runs(outcome):
    """The first run of each round's process: memory is new, and nothing has been prepared."""
    target = VALUES["FIRST_RUN"]
    rows = []
    for p, point in held_points(outcome, Program.largest):
        ratio = point.get("ravel", "first_ratio")
        if not ratio:
            continue
        rounds = point.get("ravel", "rounds")
        found = verdict(ratio, rounds, target)
        rows.append([p.title, f"{point.n:,}", milliseconds(point.get("ravel", "first_seconds")),
                     milliseconds(point.get("openmp", "first_seconds")), as_ratio(ratio, rounds),
                     rounds, digits(target), BOLD.get(found, found)])
    if not rows:
        return []
    return ["The first run of a fresh process, its arguments in memory: the system clears the pages that",
            "it writes, and Ravel prepares superoperators; what earlier processes compiled is on the disk.", "",
            *grid(["program", "size", f"{outcome.title('ravel')}, ms", "OpenMP C, ms", "ratio",
                   "rounds", "target", "verdict"], rows),
            *made_by(outcome, list(outcome.programs.values()), " --largest")]


ONE_THREAD = ("c", "c++", "numpy")


def one_thread(outcome):
    """Programs on one thread, and libraries: what OpenMP C itself is worth."""
    rows = []
    for p, point in held_points(outcome, Program.largest):
        cells = [f"{ratio:.2f}" if (ratio := point.times("ravel", s)) else "" for s in ONE_THREAD]
        if any(cells):
            rows.append([p.title, f"{point.n:,}", time_cell(point, "ravel"), *(
                time_cell(point, s) for s in ("openmp", *ONE_THREAD)), *cells])
    if not rows:
        return []
    return ["Ravel's time over that of C on one thread, of the C++ library (`std::sort`) and of",
            "NumPy, each measured once and held to no target.", "",
            *grid(["program", "size", "Ravel, ms", "OpenMP C, ms", "C, ms", "C++, ms", "NumPy, ms",
                   "over C", "over C++", "over NumPy"], rows)]


def against_streams(outcome):
    """Of programs that do little but read and write: their time beside that of the bare streams,
    which had their turns with the systems."""
    programs = [p for p in outcome.programs.values()
                if p.largest() and p.largest().seconds("streams")]
    systems = [s for s in ("openmp", "ravel", "ravel-native")
               if any(p.largest().get(s, "share") for p in programs)]
    rows = []
    for p in programs:
        point = p.largest()
        seconds = point.seconds("streams")
        rows.append([p.title, f"{point.n:,}", milliseconds(seconds),
                     digits(point.streamed_bytes / seconds / 1e9),
                     *(cell(point, s, "share") for s in systems)])
    header = ["program", "size", "streams, ms", "GB/s", *(outcome.title(s) for s in systems)]
    return rows and ["The time of the bare streams that a program has to read and to write",
                     "(`bench-stream-times`) over that of each system: 0.5 is half their bandwidth.",
                     "Above 1 is what finds data in the caches that the streams have replaced.", "",
                     *grid(header, rows), *made_by(outcome, programs, " --largest")]
