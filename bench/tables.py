"""The tables of docs/results.md, each a list of lines, from an Outcome."""

import published
from rounds import AT_TARGETS, LEAST_ROUNDS, TWIN


# ---- words ----

def digits(x):
    """Three significant digits, without exponents."""
    if x is None:
        return ""
    if x >= 100:
        return f"{x:,.0f}"
    return f"{x:.{2 if x >= 1 else 3}f}" if x >= 0.1 else f"{x:.2g}"


def milliseconds(seconds):
    return digits(seconds * 1e3) if seconds is not None else ""


def mebibytes(size):
    return digits(size / 2**20) if size is not None else ""


def as_ratio(found, rounds):
    """With its range, if the rounds were enough for one."""
    if not found:
        return ""
    return f"{found[0]:.2f}" + (f" ({found[1]:.2f} to {found[2]:.2f})"
                                if rounds >= LEAST_ROUNDS else "")


def time_cell(point, system):
    return milliseconds(point.seconds(system)) or point.problem(system) or ""


def grid(header, rows):
    """A table in Markdown; all columns but the first are numbers."""
    if not rows:
        return []
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows] + [""]


def made_by(outcome, programs, options=""):
    if not programs:
        return []
    words = ["bench/run"]
    if len(programs) < len(outcome.programs):
        words += [p.name for p in programs]
    if outcome.backend != "cpu":
        words.append(f"--backend {outcome.backend}")
    return [f"`{' '.join(words)}{options} --out R.json && bench/report R.json`", ""]


def some(outcome, names):
    return [outcome.programs[n] for n in names if n in outcome.programs and
            outcome.programs[n].largest()]


def systems_of(outcome, programs, points=None):
    """Those that were timed, or tried, on any of the programs."""
    points = points or [p.largest() for p in programs]
    return [s for s in outcome.titles if any(s in p.systems for p in points)]


def shown(outcome, points):
    """The systems of a table with a row for each point: without the twin, and without those that are
    measured where there are targets, and nowhere else."""
    return [s for s in systems_of(outcome, [], points) if s != TWIN and
            (s not in AT_TARGETS or all(s in p.systems for p in points))]


# ---- in the shape of a paper's table ----

def sparse(outcome):
    """Rates of sparse matrix times vector: two operations for each value."""
    programs = some(outcome, ["sparse-matrix-vector"])
    if not programs:
        return []
    points = [p for p in programs[0].variants() if "values" in p.facts]
    if len(points) < 2:
        return []
    systems = shown(outcome, points)

    def rate(point, system):
        seconds = point.seconds(system)
        return digits(2e-9 * point.facts["values"] / seconds) if seconds else \
            point.problem(system) or ""
    rows = []
    for point in points:
        f = point.facts
        found = point.times("ravel")
        rows.append([point.variant, f"{f['rows']:,}", f"{f['values']:,}",
                     digits(f["values"] / f["rows"]) if f["rows"] else "",
                     digits(f["row_deviation"]), *(rate(point, s) for s in systems),
                     f"{found:.2f}" if found else "",
                     *map(digits, published.SPARSE.get(point.variant, (None,) * 3))])
    header = ["matrix", "rows", "values", "values a row", "deviation",
              *(outcome.title(s) for s in systems), "time over OpenMP C", "CUSP, paper",
              "Accelerate, paper", "no fusion, paper"]
    return ["GFLOP/s; generated matrices with rows like those of the paper's matrices:", "",
            *grid(header, rows), *made_by(outcome, programs)]


# ---- memory ----

def memory(outcome):
    programs = [p for p in outcome.programs.values() if p.largest()]
    rows = []
    for p in programs:
        point = p.largest()
        vectors = point.get("ravel", "vector_bytes")
        promise = point.promise
        rows.append([p.title, f"{point.n:,}", mebibytes(point.data_bytes), mebibytes(vectors),
                     digits(vectors / point.data_bytes) if vectors and point.data_bytes else "",
                     mebibytes(point.get("ravel", "process_bytes")),
                     mebibytes(point.get("openmp", "process_bytes")), mebibytes(promise),
                     "" if not promise or not vectors else
                     "kept" if vectors <= promise else "**broken**"])
    return grid(["program", "size", "data in and out, MiB", "Ravel's vectors, MiB", "over data",
                 "Ravel's process, MiB", "OpenMP C's process, MiB", "promised, MiB", ""],
                rows) + made_by(outcome, programs, " --largest --systems ravel,openmp")
