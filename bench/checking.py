"""Whether every system computes what it should, before anybody asks how fast."""

import re
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from case import numpy, wrong
from collection import (WORK, BenchError, Data, baseline, chosen, load, load_cases, program,
                        relative, results, variants)
from systems import Ravel, all_systems, compiled_cuda, read_by_clang
from timing import execute, result_files, run_system

CHECK_SECONDS = 60.0


def expected(data):
    """Results that are right by an independent way, or None."""
    if data.case.reference is None:
        return None
    return [numpy.atleast_1d(r) for r in data.case.reference(data.arguments())]


def complaint(data, found, wanted):
    """What is wrong with results; None if they are right. Where a case has a check of its own,
    results need not be unique, and are compared only with an independent reference."""
    if data.case.check:
        sentence = data.case.check(data.arguments(), found)
        if sentence:
            return sentence
    if wanted is None:
        return None if data.case.check else "there is nothing to compare with"
    return wrong(found, wanted, data.case.tolerance)


def computed(system, data, threads, folder, count, limit=CHECK_SECONDS, repeat=0):
    """A run of a system and the results it wrote, or None for these."""
    for old in Path(folder).glob("*.npy"):
        old.unlink()
    outputs = result_files(folder, count)
    run = run_system(system, data, data.case.widths, outputs, threads, repeat, limit)
    if run.status != 0:
        return run, None
    return run, [load(path) for path in outputs]


def check_size(case, variant, n, systems, failed, folder):
    """Yields a line for each system that fails; systems that failed before are left out."""
    data = Data(case, variant, n)
    wanted = expected(data)
    count = len(results(case))
    if wanted is not None and len(wanted) != count:
        raise BenchError(f"{case.name}: the reference has {len(wanted)} results, the program "
                         f"{count}")
    smallest = sorted(case.test_sizes)[:3]
    for system in systems:
        if system.name in failed or (system.name == "direct" and n not in smallest):
            continue
        threads = 2 if system.parallel else 1
        run, found = computed(system, data, threads, folder, count)
        sentence = run.complaint() if found is None else complaint(data, found, wanted)
        if sentence:
            failed.add(system.name)
            at = f"{variant + ', ' if variant else ''}n = {n}"
            yield (f"FAILED {case.name}, {system.name}, {at}: {sentence}\n    " +
                   re.sub(r" -o \S+", "", run.command))


def check_case(name, system_names, backend, build, sources=False, quick=True,
               gpu_sources=False):
    """(how many systems are right, lines about those that are not, lines about what is not
    here), for one case at its test sizes; if `quick` of all kinds of data but the first only at
    the largest of these. With `sources` the examples of the program are run and, unless `quick`,
    clang reads the baselines; with `gpu_sources` nvcc compiles those for a GPU."""
    case = load_cases()[name]
    failed, lines, skipped, systems = set(), [], [], []
    for system in all_systems(backend, build).values():
        if system.name not in system_names:
            continue
        reason = system.available(case)
        if reason is None:
            try:
                system.prepare(case, case.widths)
                systems.append(system)
            except BenchError as error:
                failed.add(system.name)
                lines.append(f"FAILED {name}, {system.name}: {error}")
        elif isinstance(system, Ravel) or system.name in ("c", "openmp"):
            lines.append(f"FAILED {name}, {system.name}: {reason}")
            failed.add(system.name)
        elif not reason.startswith("bench/baselines"):
            skipped.append(f"{system.name}: {reason}")
    passed = 0
    for suffix in (".c", ".cc") if sources and not quick and shutil.which("clang") else ():
        source = baseline(case, suffix)
        for openmp in (False, True) if source else ():
            try:
                read_by_clang(source, openmp, case.widths)
                passed += 1
            except BenchError as error:
                lines.append(f"FAILED {name}, clang: {error}")
                failed.add("clang")
    for suffix in (".cu", "-library.cu") if gpu_sources else ():
        if not baseline(case, suffix):
            continue
        try:
            compiled_cuda(baseline(case, suffix), case.widths, arch="sm_90", link=False)
            passed += 1
        except BenchError as error:
            lines.append(f"FAILED {name}, nvcc: {error}")
    if sources and program(case).exists():
        passed += 1
        lines += check_examples(case, build)
    folder = tempfile.mkdtemp(prefix=f"{name}-", dir=WORK)
    try:
        if systems:
            for k, (variant, _) in enumerate(variants(case)):
                sizes = sorted(case.test_sizes)
                for n in sizes[-1:] if quick and k > 0 else sizes:
                    lines += check_size(case, variant, n, systems, failed, folder)
    except BenchError as error:
        lines.append(f"FAILED {name}: {error}")
    except Exception as error:  # of the case itself: report which one
        lines.append(f"FAILED {name}: its data, reference or check: {error!r}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return passed + sum(1 for s in systems if s.name not in failed), lines, skipped


def check_examples(case, build):
    """The examples at the end of a program."""
    run = execute([relative(Path(build) / "bin" / "nesl"), "test", relative(program(case))],
                  limit=CHECK_SECONDS)
    if run.status == 0:
        return []
    return [f"FAILED {case.name}, its examples: {run.complaint()}\n    {run.command}"]


def check(names, system_names, backend, build, jobs, quick, gpu_sources):
    """Prints what is wrong; the number of systems of cases that failed."""
    cases = chosen(load_cases(), names)
    WORK.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    missing = set()
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        running = [(case, pool.submit(check_case, case.name, system_names, backend, build, True,
                                      quick, gpu_sources))
                   for case in cases]
        for case, future in running:
            right, lines, skipped = future.result()
            passed += right
            failed += len(lines)
            missing.update(skipped)
            print(f"{'FAILED' if lines else 'ok':7}{case.name}: {right} right"
                  f"{f', {len(lines)} wrong' if lines else ''}", flush=True)
            for line in lines:
                print(line, flush=True)
    for reason in sorted(missing):
        print(f"SKIPPED (optional) {reason}")
    print(f"{passed} passed, {failed} failed")
    return failed
