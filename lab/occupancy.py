"""How many blocks of a kernel find room on a multiprocessor at once."""

WARP = 32
# By architecture: warps, blocks and bytes of shared memory of a multiprocessor, from the table
# "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide. How registers
# and shared memory are allocated is the same for all of these, from the toolkit's cuda_occupancy.h:
# registers for a warp, in units of 256, each quarter of the multiprocessor its own; shared memory
# in units of 128 bytes, with 1 KB for the system in each block (the guide, section of the
# architecture).
ARCHITECTURES = {80: (64, 32, 164 * 1024), 86: (48, 16, 100 * 1024), 89: (48, 24, 100 * 1024),
                 90: (64, 32, 228 * 1024), 100: (64, 32, 228 * 1024), 120: (48, 24, 100 * 1024)}
REGISTERS, REGISTER_UNIT, QUARTERS = 65536, 256, 4
SHARED_UNIT, SHARED_OF_SYSTEM = 128, 1024


def up(number, unit):
    return (number + unit - 1) // unit * unit


def warps_of(threads):
    return up(threads, WARP) // WARP


def resident_blocks(threads, registers, shared, arch):
    """Of blocks of so many threads, registers of a thread, and bytes of shared memory of a
    block."""
    warps, blocks, most_shared = ARCHITECTURES[arch]
    own = warps_of(threads)
    of_registers = QUARTERS * (REGISTERS // QUARTERS // up(max(1, registers) * WARP, REGISTER_UNIT))
    of_shared = most_shared // up(shared + SHARED_OF_SYSTEM, SHARED_UNIT)
    return min(warps // own, blocks, of_registers // own, of_shared)
