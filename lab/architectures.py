"""Whether a build for packages (RAVEL_CUDA_ALL) has code for every GPU that it should.

    lab/check architectures            one source of the CUDA module, compiled as packages are
    lab/check architectures --whole    the module

It is built in build-architectures/, which stays. Of each fat binary the entries are compared with
WANTED, and with what --devices would say (cvl-cuda/code.hpp) by the list in the module."""

import subprocess

import ptxas
from interpreted import ROOT, parser_of

FOLDER = ROOT / "build-architectures"
# Ampere, Hopper, Blackwell of data centres and of others; and PTX, from Turing on.
WANTED = {(ptxas.CUBIN_ENTRY, 80), (ptxas.CUBIN_ENTRY, 90), (ptxas.CUBIN_ENTRY, 100),
          (ptxas.CUBIN_ENTRY, 120), (ptxas.PTX_ENTRY, 75)}
LISTED = b"80-real:90-real:100-real:120-real:75-virtual"
SAMPLE = "require.cu"


def named(entries):
    return ", ".join(f"{'PTX for compute' if kind == ptxas.PTX_ENTRY else 'sm'}_{arch}"
                     for kind, arch in sorted(entries, key=lambda e: (e[0] == ptxas.PTX_ENTRY, e[1])))


def configured():
    """Whether there is a CUDA module to build."""
    if not (FOLDER / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release", "-S", ROOT, "-B", FOLDER, "-DRAVEL_CUDA_ALL=ON"],
                       check=True, stdout=subprocess.DEVNULL)
    return bool(ptxas.module_units(FOLDER))


def built(target, jobs):
    subprocess.run(["cmake", "--build", FOLDER, "-j", str(jobs), "--target", target], check=True,
                   stdout=subprocess.DEVNULL)


def binaries(data):
    """The entries of each fat binary of a file, as sets."""
    found, last = [], None
    [section] = [s for s in ptxas.elf_sections(data) if s.name == ".nv_fatbin"]
    for offset, kind, arch, _ in ptxas.located_entries(section.contents):
        if offset != last:
            found.append(set())
            last = offset
        found[-1].add((kind, arch))
    return found


def check(path):
    """How many of the fat binaries in a file are right, and how many are not."""
    found = binaries(path.read_bytes())
    wrong = [entries for entries in found if entries != WANTED]
    for entries in wrong[:3]:
        print(f"FAIL {path.name}: code for {named(entries)}, not for {named(WANTED)}")
    if not found:
        print(f"FAIL {path.name}: no fat binary")
    return len(found) - len(wrong), len(wrong) + (not found)


def size_of(path):
    return f"{path.stat().st_size / 1e6:.1f} MB"


def whole(jobs):
    built("cvl-cuda", jobs)
    module = FOLDER / "lib" / "ravel" / "cvl-cuda.so"
    passed, failed = check(module)
    if LISTED not in module.read_bytes():
        print(f"FAIL {module.name}: it does not say that it has {LISTED.decode()}")
        failed += 1
    print(f"{module.name}: {size_of(module)}")
    return passed, failed


def sample(jobs):
    unit = next(u for u in ptxas.module_units(FOLDER) if u.name == SAMPLE)
    built(str(unit.object.relative_to(FOLDER)), jobs)
    return check(unit.object)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--whole", action="store_true", help="the whole module")
    options = parser.parse_args()
    if not configured():
        print("SKIPPED (no nvcc) code for each GPU: there is no CUDA module")
        return 0
    passed, failed = (whole if options.whole else sample)(options.jobs)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0

