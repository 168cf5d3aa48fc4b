"""What a GPU would take for launches that the interpreter of PTX has counted (RAVEL_PTX, `count`:
cvl-cuda/ptx/counting.hpp describes the lines): a model, which proves nothing about time.

A launch takes as long as the slowest of these, if everything else overlaps with it perfectly:

    DRAM       sectors moved from and to DRAM, at its bandwidth
    L2         sectors asked for, at the bandwidth of the second-level cache
    in flight  the same bytes, at the part of DRAM's bandwidth that the bytes in flight allow (Little's law:
               bandwidth is bytes in flight over latency)
    issue      instructions of warps, four a cycle and multiprocessor; 0.36 of that in kernels with barriers
    shared     wavefronts of shared memory, one a cycle and multiprocessor
    latency    the round trips to memory that a warp makes, one after the other

and a fixed time for each launch and each wait of the host besides.
"""

import dataclasses
import json
from dataclasses import dataclass, field

from occupancy import resident_blocks, warps_of

SECTOR = 32
ARCH = 90
# Of kernels whose machine code is not at hand (those that NVRTC makes at run time).
UNKNOWN_REGISTERS = 32


@dataclass
class Device:
    """Bandwidths in bytes a second, times in seconds, sizes in bytes."""

    name: str
    processors: int
    clock: float
    dram: float
    l2: float
    l2_bandwidth: float
    in_flight: float      # bytes of a multiprocessor at which DRAM's bandwidth is reached
    round_trip: float     # of a load from DRAM
    launch: float = 2.5e-6  # a guess for the least time of a kernel in a stream
    wait: float = 10e-6     # a guess: four of what a kernel takes at least

    def part(self, processors):
        """A device of so many multiprocessors with as much of everything else."""
        p = processors / self.processors
        return dataclasses.replace(self, name=f"{self.name}, {processors} of {self.processors}",
                                   processors=processors, dram=self.dram * p, l2=self.l2 * p,
                                   l2_bandwidth=self.l2_bandwidth * p)


# Processors, DRAM and the size of the L2: NVIDIA's data sheets of H100 SXM and H200 (3.35 and 4.8 TB/s),
# of which 90 % are taken as what can be had. Clock: 1755 MHz, the most that Chips and Cheese saw of an
# H100 PCIe ("Nvidia's H100: Funny L2, and Tons of Bandwidth", 2023). Bytes in flight: what CUB's
# transform asks for on these devices, 32 and 48 KiB, times 0.35, since an H200 took so much (the median) of the time
# that the model gave launches with fewer (bench/results/gpu-nvidia-h200/model.txt). The L2's bandwidth and the
# time of a round trip are guesses.
H100 = Device("H100", 132, 1.755e9, 0.9 * 3.35e12, 50e6, 5.5e12, 11 * 1024, 0.6e-6)
H200 = Device("H200", 132, 1.755e9, 0.9 * 4.8e12, 50e6, 5.5e12, 17 * 1024, 0.6e-6)
DEVICES = (H100, H200)

ISSUED = 4  # instructions a cycle of a multiprocessor ...
# ... and the part of them where warps wait for each other: a FLOAT scan of 2^28 32-bit elements took 47 cycles for 67
# instructions of a row of 32 on an H200 (ncu).
BARRIER_ISSUE = 0.36


def resident_warps(launch, registers, device):
    """On a multiprocessor, on average while the launch has blocks for all."""
    shared = launch["static_shared"] + launch["shared"]
    blocks = max(1, resident_blocks(launch["threads"], registers, shared, ARCH))
    most = blocks * warps_of(launch["threads"])
    return min(most, launch["blocks"] * warps_of(launch["threads"]) / device.processors)


def asked(launch):
    """Sectors of global memory in all requests."""
    return launch["loads"][1] + launch["stores"][1] + launch["atomics"][1]


def wanted_bytes(launch):
    return launch["loads"][2] + launch["stores"][2] + launch["atomics"][2]


def moved(launch):
    """Bytes between DRAM and the second-level cache."""
    return SECTOR * (launch["fetched"] + launch["written_back"])


def bytes_in_flight(launch, registers, device):
    """Of a multiprocessor, in a round trip to memory (cvl-cuda/ptx/traffic.hpp says what one is); None if
    nothing waits."""
    loaded = SECTOR * (launch["loads"][1] + launch["atomics"][1])
    if not launch["round_trips"] or not loaded:
        return None
    return resident_warps(launch, registers, device) * loaded / launch["round_trips"]


def issued(launch):
    """Instructions a cycle of a multiprocessor."""
    return ISSUED * (BARRIER_ISSUE if launch["groups"].get("barrier") else 1)


def limits(launch, registers, device):
    """Seconds by what limits a launch."""
    busy = min(device.processors, launch["blocks"])
    warps = launch["blocks"] * warps_of(launch["threads"])
    groups = sum(launch["groups"].values())
    flying = bytes_in_flight(launch, registers, device)
    dram = moved(launch) / device.dram
    held_back = max(1.0, device.in_flight / flying) if flying else 1.0
    return {"DRAM": dram, "in flight": dram * held_back if held_back > 1 else 0.0,
            "L2": SECTOR * asked(launch) / device.l2_bandwidth,
            "issue": groups / (busy * issued(launch) * device.clock),
            "shared": launch["wavefronts"] / (busy * device.clock),
            "latency": launch["round_trips"] / max(1, warps) * device.round_trip}


@dataclass
class Work:
    """A section of the lines: what one operation or program made the device do."""

    about: dict
    launches: list = field(default_factory=list)
    copies: list = field(default_factory=list)
    waits: int = 0

    def total(self, what):
        return sum(what(launch) for launch in self.launches)

    def moved(self):
        """Bytes moved from and to DRAM, with what is still to be written at the end. What copies move
        within the device is added whole."""
        dirty = SECTOR * self.launches[-1]["dirty"] if self.launches else 0
        return self.total(moved) + dirty + self.copied()

    def touched(self):
        """Bytes that each launch alone had to read and write: what would be moved without a
        cache between launches."""
        return self.total(lambda l: l["read"] + l["written"]) + self.copied()

    def copied(self):
        return sum({"on": 2, "fill": 1}.get(c["way"], 0) * c["copy"] for c in self.copies)

    def sector_efficiency(self):
        """Bytes that lanes wanted over those of the sectors that were asked for."""
        sectors = self.total(asked)
        return self.total(wanted_bytes) / (SECTOR * sectors) if sectors else None

    def conflicts(self):
        """Wavefronts over those without bank conflicts."""
        least = self.total(lambda l: l["least_wavefronts"])
        return self.total(lambda l: l["wavefronts"]) / least if least else None

    def in_flight(self, registers, device):
        """Of the launch that moves most, bytes in flight over those that DRAM's bandwidth needs."""
        most = max(self.launches, key=moved, default=None)
        if most is None or moved(most) == 0:
            return None
        flying = bytes_in_flight(most, registers(most["symbol"]), device)
        return flying / device.in_flight if flying else None

    def seconds(self, registers, device):
        """(seconds, what binds for most of the time in kernels)."""
        by_limit, inside = {}, 0.0
        for launch in self.launches:
            found = limits(launch, registers(launch["symbol"]), device)
            binds = max(found, key=found.get)
            by_limit[binds] = by_limit.get(binds, 0.0) + found[binds]
            inside += found[binds]
        inside += self.copied() / device.dram
        fixed = len(self.launches) * device.launch + self.waits * device.wait
        if fixed > inside:
            return inside + fixed, "launches" if len(self.launches) * device.launch > \
                self.waits * device.wait else "waits"
        return inside + fixed, max(by_limit, key=by_limit.get) if by_limit else "copies"


def read_lines(path):
    """The objects of a file of counts; a line that is cut short, as by a full disk, is named."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except ValueError:
                raise SystemExit(f"{path}, line {number}: not an object of JSON: {line[:60]!r}"
                                 ) from None


def works(lines):
    """The sections between a line with a name and the one that ends it."""
    work = None
    for line in lines:
        if "name" in line:
            work = Work(line)
        elif "end" in line:
            if work:
                yield work
            work = None
        elif work:
            add(work, line)


def whole(lines, about):
    """All lines as one work."""
    work = Work(about)
    for line in lines:
        add(work, line)
    return work


def add(work, line):
    if "launch" in line:
        work.launches.append(line)
    elif "copy" in line:
        work.copies.append(line)
    elif "wait" in line:
        work.waits += 1
