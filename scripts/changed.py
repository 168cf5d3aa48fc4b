"""What `scripts/test --changed` runs: the unit tests of the rooms whose files have changed, in the release
build, and a small part of what executes them. A usual run of scripts/test says more, and takes many times as
long. A folder that has no tests of its own is named: nothing passes unseen."""

import json
import subprocess

from stage_runner import ROOT, Stage

SUITE = "build/bin/conformance --quick --brief --int 64 --float 64 --seed 1"
WATCHED = "RAVEL_EMULATION=check,deferred,order=shuffled,small=0"
DRIVE = "python3 nesl-tests/drive.py --jobs {jobs} --sample 3 --seed 1"
FORMS = "python3 nesl-tests/nesl.py --jobs {jobs} --config fused --every 12"
# Commands by the first part of a file's path.
RUNS = {
    "cvl": [f"{SUITE} --backend delayed --shard 1/8", f"{SUITE} --backend cpu --shard 2/8"],
    "cvl-cpu": [f"{SUITE} --backend cpu --shard 1/4", f"{DRIVE} --config fused-64"],
    "cvl-cuda": [f"{WATCHED} {SUITE} --backend cuda-emu --shard 1/16", f"{DRIVE} --config cuda-emu-fused"],
    "lab": ["lab/tests/run.py"],
    "cvl-mpi": ["cvl-mpi/tests/ranks.py --smoke"],
    "fused-kernels": [f"{SUITE} --backend cpu --only SUPEROP --shard 1/4", f"{DRIVE} --config fused-64"],
    "procedures": ["python3 nesl-tests/procedures.py --jobs {jobs}",
                   "python3 nesl-tests/native.py --jobs {jobs} --sample 50 --least 50"],
    "fcode-opt": [f"{DRIVE} --config optimised --config fused", FORMS],
    "ir": [f"{DRIVE} --config fused", FORMS],
    "vinterp": [f"{DRIVE} --config classic-2t --config fused", FORMS],
    "vcode": [f"{DRIVE} --config file-64"],
    "neslc": [FORMS, "python3 nesl-tests/errors.py"],
    "tables": [f"{SUITE} --backend cpu --shard 1/4", "scripts/mutate-tables --sample 2"],
    "examples": ["python3 nesl-tests/nesl.py --jobs {jobs} --config fused --config direct examples"],
    "python": ["RAVEL_EVERY=5 python3 python/tests/run.py"],
    "docs": ["python3 nesl-tests/documents.py", "python3 nesl-tests/pages.py", "python3 nesl-tests/manuals.py"],
    "commands": ["python3 nesl-tests/manuals.py"],
    "bench": ["bench/tests/harness.py"],
    "nesl-tests": [FORMS],
    "scripts": ["scripts/tests/test_stage_runner.py", "scripts/tests/test_changed.py"],
}
TESTED_BY = {"base": ["vcode"], "arrays": ["libravel"], "include": ["libravel"]}


def changed_files(commit):
    """Files that differ from a commit, and those that git does not know yet."""
    def lines(*command):
        done = subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()
    return sorted({*lines("diff", "--name-only", commit),
                   *lines("ls-files", "--others", "--exclude-standard")})


def rooms_of(files):
    """The first parts of paths, each with those whose tests show what it does."""
    rooms = {path.split("/")[0] for path in files if "/" in path}
    return sorted(rooms.union(*(TESTED_BY.get(room, []) for room in rooms)))


def unit_tests(room):
    """The names of a room's unit tests, and the programs among them, which a usual build has only in part."""
    folder = ROOT / "build" / room
    if not (ROOT / "build" / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    if not (folder / "CTestTestfile.cmake").exists():
        return [], []
    shown = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], check=True,
                           capture_output=True, text=True)
    tests = json.loads(shown.stdout)["tests"]
    is_program = lambda test: "command" not in test or test["command"][0].endswith("/test-" + test["name"])
    return [t["name"] for t in tests], ["test-" + t["name"] for t in tests if is_program(t)]


def targets(rooms):
    """What the release build makes for these rooms, beside what users have."""
    return [target for room in rooms for target in unit_tests(room)[1]]


def stages(rooms, environment):
    for room in rooms:
        tested = unit_tests(room)[0]
        if not tested and room not in RUNS:
            print(f"{room}/ has no tests of its own: run scripts/test")
        if tested:
            yield Stage(f"{room}: unit tests", f"{environment} ctest --test-dir build/{room}"
                        " -j $(({jobs} + 1)) --no-tests=error --output-on-failure")
        for command in RUNS.get(room, []):
            yield Stage(f"{room}: {command.split(' --')[0].split('/')[-1]}", f"{environment} {command}")
