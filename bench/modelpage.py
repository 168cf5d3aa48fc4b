"""The page docs/results-gpu-model.md, from what gpu-model has counted."""

from dataclasses import replace

from modelling import DEVICES, H100
from tables import digits, grid
from targets import VALUES

CORPUS = ["muladd", "dotp.100000", "black-scholes.1000", "qs.1000", "quickhull.1000", "bh.100"]
SHAPES = ["one", "1 each", "4 each", "32 each", "1000 each", "100000 each", "power law", "random",
          "half empty", "long, tiny"]
STREAMING = ("map", "reduce", "exact scan", "pack")
# Target, what it is of, the families held to it, the figure, and whether it is an upper bound.
TARGETS = (
    ("MODEL_TOUCHED", STREAMING, "touched_ratio", True),
    ("MODEL_SECTORS", STREAMING, "sector_efficiency", False),
    ("MODEL_BANKS", (*STREAMING, "float scan", "segmented", "rank"), "conflicts", True),
    ("MODEL_IN_FLIGHT", STREAMING, "in_flight", False),
    ("MODEL_SEGMENTED", ("segmented",), "of_one", True),
    ("MODEL_PEER", (*STREAMING, "segmented", "rank"), "of_peer", True),
    ("MODEL_SORT", ("sort",), "of_peer", True),
)

HEAD = """# What a GPU would do: counts and a model

What a GPU did is in [results-gpu.md](results-gpu.md); this is a model. Where it says DRAM or L2, an H200 took as long as it says
(median 1.00 and 0.97); where it says *in flight*, a third of that. The interpreter of PTX ([cvl-cuda/ptx](../cvl-cuda/ptx/README.md)) executes the module's own
code and counts what it asks of memory; a model turns that into times. Counts are exact for the PTX and for one schedule of
blocks; **times are modelled: they inform, they prove nothing.**

Made by `{command}` of commit {commit}.

- *moved*: bytes from and to DRAM, through a second-level cache that held nothing of the operands before, over those that
  the operation cannot avoid: its operands and results once, as [bench/gpu-ops.c](../bench/gpu-ops.c) counts them.
- *touched*: bytes that each launch alone reads and writes, likewise: what would be moved without a cache between launches.
- *sectors*: bytes that threads asked for over those of the sectors of 32 bytes that hold them; 1 is best.
- *banks*: cycles of shared memory over those without bank conflicts; 1 is best.
- *in flight*: bytes of loads in flight over those that DRAM's bandwidth needs, in the launch that moves most; 1 is enough. ptxas is
  taken to issue the loads between two branches together, unless their addresses wait for others or a store stands between them.
- *us H100*, *us H200*: modelled microseconds, in kernels and with {launch} us a launch; *us waiting*: {wait} us
  each time that the host waits; *binds*: what takes longest on the H100.

"""

OPERATIONS = """## Operations

{n} elements of {width} bits on {few} of {all} multiprocessors, with as large a part of bandwidth and cache: as {whole} elements on a
whole device. *of CUB*: the modelled time over that of CUB's operation on the same data; CUB does not do FLOAT sums in an order that
is always the same.

"""

SEGMENTS = """## Segments

A quarter of the elements, by the lengths of segments. *of one*: the modelled time over that of one segment (target: at most
{target}); *of CUB*: over that of CUB's operation by key or by offsets.

"""

PROGRAMS = """## Programs

On a whole device; Ravel's superoperators are compiled by NVRTC, for which 32 registers a thread are assumed. *by hand*: the kernels of
`bench/baselines/*.cu` on the same data. Launches and waits are those of the whole program, its data being made or read: those by
hand wait for each argument that is copied in. The results of these programs are compared with those that are right. A loop is not compiled for
a GPU ([cuda.md](cuda.md)): at each of its 255 steps mandelbrot takes about 20 operations, each a launch, and a wait.

"""

JUDGED = """## Targets

Those of [bench/targets.def](../bench/targets.def), which are counts and ratios in this model. *missed by*: the worst first.

"""

CONSTANTS = """## The model's constants

They are in [bench/modelling.py](../bench/modelling.py) with their sources. The L2's bandwidth, the 0.6 us of a round trip, and
what a launch and a wait take are guesses.

"""

LIMITS = """## What the model does not know

- Time in the caches and in the memory controller, replays, the texture and first-level caches (a request that asks again for
  a sector asks the second level), how a warp's instructions depend on each other, and that launches overlap.
- What ptxas makes of the PTX: instructions are those of the PTX, of which it leaves out many (moves, conversions).
- The order of blocks: {resident} run at a time, in turns.
- cuBLAS and cuSPARSE (no PTX).
- What a program waits for besides launches and answers: kernels that are loaded, memory that is allocated, the host's own work, and
  how far that overlaps with the device's.
"""


WORST = 6  # that are named


def title(f, always=False):
    return f"{f['name']} {f['elem']}" + (f", {f['shape']}" if always or f["shape"] != "one" else "")


def share(x):
    return "" if x is None else f"{x:.2f}"


def micro(seconds):
    return digits(seconds * 1e6)


class Page:
    def __init__(self, options, processors, resident, registers):
        self.options, self.processors, self.resident = options, processors, resident
        self.registers = registers
        self.figures = []

    def devices(self, part):
        return [d.part(self.processors) if part else d for d in DEVICES]

    # ---- rows ----

    def figure(self, work, system, part):
        """What is known of a work, by name; also kept for --json."""
        devices = self.devices(part)
        timed = [work.seconds(self.registers, replace(d, wait=0.0)) for d in devices]
        needed = work.about.get("bytes")
        f = {"system": system, **work.about, "launches": len(work.launches), "waits": work.waits,
             "moved": work.moved(), "touched": work.touched(),
             "sector_efficiency": work.sector_efficiency(), "conflicts": work.conflicts(),
             "in_flight": work.in_flight(self.registers, devices[0]),
             "seconds": {d.name: s for d, (s, _) in zip(DEVICES, timed)}, "binds": timed[0][1],
             "seconds_waiting": work.waits * H100.wait,
             "collisions": work.total(lambda l: l["collisions"]),
             "diverged": work.total(lambda l: l["diverged"]),
             "branches": work.total(lambda l: l["branches"])}
        if needed:
            f["moved_ratio"], f["touched_ratio"] = work.moved() / needed, work.touched() / needed
        self.figures.append(f)
        return f

    @staticmethod
    def cells(f):
        return [share(f.get("moved_ratio")), share(f.get("touched_ratio")),
                share(f["sector_efficiency"]), share(f["conflicts"]), share(f["in_flight"]),
                f["launches"], *(micro(s) for s in f["seconds"].values()), f["binds"]]

    COLUMNS = ["moved", "touched", "sectors", "banks", "in flight", "launches",
               *(f"us {d.name}" for d in DEVICES), "binds"]

    @staticmethod
    def compare(mine, peers):
        """Adds modelled times over those of one segment and of CUB."""
        one = {(f["name"], f["elem"]): f["seconds"]["H100"] for f in mine if f["shape"] == "one"}
        for f in mine:
            base = one.get((f["name"], f["elem"]))
            peer = peers.get((f["name"], f["elem"], f["shape"]))
            f["of_one"] = f["seconds"]["H100"] / base if base else None
            f["of_peer"] = f["seconds"]["H100"] / peer["seconds"]["H100"] if peer else None

    # ---- tables ----

    def operations(self, mine):
        rows = [[title(f), *self.cells(f), share(f["of_peer"])] for f in mine]
        return grid(["operation", *self.COLUMNS, "of CUB"], rows)

    def peer_rows(self, peers):
        return grid(["CUB's", *self.COLUMNS],
                    [[title(f), *self.cells(f)] for f in peers.values()
                     if not f["name"].startswith("+_")])

    def segments(self, mine):
        mine = sorted(mine, key=lambda f: (f["name"], f["elem"], SHAPES.index(f["shape"])))
        rows = [[title(f, always=True), *self.cells(f), share(f["of_one"]), share(f["of_peer"])]
                for f in mine]
        return grid(["operation", *self.COLUMNS, "of one", "of CUB"], rows)

    @staticmethod
    def judged(found):
        rows = []
        for name, families, figure, at_most in TARGETS:
            bound = VALUES[name]
            held = [f for f in found if f["family"] in families and f.get(figure) is not None]
            missed = [f for f in held if (f[figure] > bound if at_most else f[figure] < bound)]
            missed.sort(key=lambda f: f[figure], reverse=at_most)
            rows.append([f"{figure.replace('_', ' ')} {'at most' if at_most else 'at least'} {bound}",
                         ", ".join(families), len(held) - len(missed), len(missed),
                         "; ".join(f"{title(f)} {f[figure]:.2f}" for f in missed[:WORST])])
        return grid(["target", "of", "met", "missed", "missed by"], rows)

    def programs(self, by_hand, corpus):
        rows = []
        for mine, hand in by_hand:
            f, h = self.figure(mine, "Ravel", False), self.figure(hand, "by hand", False)
            rows.append([f"{f['name']}, n = {f['n']:,}", *self.program_cells(f)])
            rows.append([f"{f['name']}, by hand", *self.program_cells(h)])
        for work in corpus:
            f = self.figure(work, "Ravel", False)
            rows.append([f"{f['name']} (corpus)", *self.program_cells(f)])
        return grid(["program", "MB moved", "sectors", "banks", "launches",
                     *(f"us {d.name}" for d in DEVICES), "binds", "waits", "us waiting"], rows)

    @staticmethod
    def program_cells(f):
        return [digits(f["moved"] / 1e6), share(f["sector_efficiency"]), share(f["conflicts"]),
                f["launches"], *(micro(s) for s in f["seconds"].values()), f["binds"], f["waits"],
                micro(f["seconds_waiting"])]

    @staticmethod
    def constants():
        rows = [(d.name, d.processors, f"{d.clock / 1e6:.0f} MHz", f"{d.dram / 1e12:.2f} TB/s",
                 f"{d.l2_bandwidth / 1e12:.1f} TB/s", f"{d.l2 / 1e6:.0f} MB", f"{d.in_flight / 1024:.0f} KiB",
                 f"{d.launch * 1e6} us", f"{d.wait * 1e6:.0f} us") for d in DEVICES]
        return grid(["device", "multiprocessors", "clock", "DRAM", "L2", "L2 holds", "in flight, each",
                     "launch", "wait"], rows)

    # ---- the page ----

    def text(self, works, peers, by_hand, corpus, command, commit="unknown"):
        found = [self.figure(w, "Ravel", True) for w in works]
        others = {(f["name"], f["elem"], f["shape"]): f
                  for f in (self.figure(w, "CUB", True) for w in peers)}
        segments = [f for f in found if f["family"] == "segmented"]
        operations = [f for f in found if f["family"] != "segmented"]
        for group in (operations, segments):
            self.compare(group, others)
        n = 1 << self.options.size
        out = [HEAD.format(command=command, commit=commit, launch=H100.launch * 1e6,
                           wait=round(H100.wait * 1e6))]
        if operations:
            whole = n * H100.processors // self.processors
            out += [OPERATIONS.format(n=f"{n:,}", width=self.options.width, few=self.processors,
                                      all=H100.processors, whole=f"{whole:,}"),
                    *self.lines(self.operations(operations)),
                    *self.lines(self.peer_rows(others))]
        if segments:
            out += [SEGMENTS.format(target=VALUES["MODEL_SEGMENTED"]),
                    *self.lines(self.segments(segments))]
        if found:
            out += [JUDGED, *self.lines(self.judged(found))]
        if by_hand or corpus:
            out += [PROGRAMS, *self.lines(self.programs(by_hand, corpus))]
        out += [CONSTANTS, *self.lines(self.constants()), LIMITS.format(resident=self.resident)]
        return "".join(out)

    def against(self, measured):
        """Times of a GPU over modelled ones, each by element, at the largest size that was measured."""
        times = {}
        for row in measured.get("ops", {}).get("rows", []):
            times.setdefault((row["name"], row["elem"], row["shape"]), []).append(row)
        rows = []
        for f in self.figures:
            found = max(times.get((f["name"], f["elem"], f["shape"]), []), key=lambda r: r["n"],
                        default=None)
            if found is None or f["system"] != "Ravel":
                continue
            elements = f["n"] * H100.processors / self.processors
            ratios = [found["seconds"] / found["n"] / (s / elements) for s in f["seconds"].values()]
            rows.append([title(f), f"{found['n']:,}", *(share(r) for r in ratios), f["binds"]])
        return self.lines(grid(["measured over modelled", "n", *(d.name for d in DEVICES), "binds"],
                               rows)) or ["nothing that was measured is modelled\n"]

    @staticmethod
    def lines(table):
        return [line + "\n" for line in table]
