#!/usr/bin/env python3
"""CuPy, PyTorch and JAX, each where it is installed, on the work that bench-ops measures.

    bench/gpu-peers.py [--json FILE] [--sizes LOG2,LOG2...] [--rounds N] [--seconds N]

Each operation runs in sequences of a few milliseconds, waited for once; results are dropped as
they come. Lines are like those of bench-gpu-peers: names, types and shapes are those of
bench-ops. Without a GPU or a library a line says so."""

import argparse
import importlib
import itertools
import json
import os
import sys
import time

ELEMS = {"i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64"}
SEQUENCE = 5e-3  # seconds


def cupy_operations(elem, n):
    cupy = importlib.import_module("cupy")
    if cupy.cuda.runtime.getDeviceCount() == 0:
        raise RuntimeError("no GPU")
    generator = cupy.random.default_rng(1)
    if elem.startswith("f"):
        x, y = (generator.random(n, dtype=ELEMS[elem]) for _ in range(2))
    else:
        x, y = (generator.integers(1, 1 << 30, n, dtype=ELEMS[elem]) for _ in range(2))
    flags = generator.integers(0, 2, n, dtype="int8").astype(bool)
    indices = cupy.random.permutation(n)
    operations = {
        "ADD": lambda: x + y, "ADD_REDUCE": lambda: x.sum(dtype=x.dtype),
        "ADD_SCAN": lambda: cupy.cumsum(x, dtype=x.dtype), "PACK, new flags": lambda: x[flags],
        "RANK_UP": lambda: cupy.argsort(x), "BPERMUTE": lambda: cupy.take(x, indices),
    }
    if elem.startswith("f"):
        operations["dot"] = lambda: cupy.dot(x, y)
        operations["axpy"] = lambda: x * x.dtype.type(2.5) + y
    return operations, cupy.cuda.Device().synchronize


def torch_operations(elem, n):
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise RuntimeError("no GPU")
    kind = getattr(torch, ELEMS[elem])
    torch.manual_seed(1)
    if elem.startswith("f"):
        x, y = (torch.rand(n, dtype=kind, device="cuda") for _ in range(2))
    else:
        x, y = (torch.randint(1, 1 << 30, (n,), dtype=kind, device="cuda") for _ in range(2))
    flags = torch.randint(0, 2, (n,), device="cuda").bool()
    indices = torch.randperm(n, device="cuda")
    operations = {
        "ADD": lambda: x + y, "ADD_REDUCE": lambda: torch.sum(x, dtype=kind),
        "ADD_SCAN": lambda: torch.cumsum(x, 0, dtype=kind), "PACK, new flags": lambda: x[flags],
        "RANK_UP": lambda: torch.sort(x, stable=True), "BPERMUTE": lambda: x[indices],
    }
    if elem.startswith("f"):
        operations["dot"] = lambda: torch.dot(x, y)
        operations["axpy"] = lambda: torch.add(y, x, alpha=2.5)
    return operations, torch.cuda.synchronize


def jax_operations(elem, n):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    if not any(d.platform == "gpu" for d in jax.devices()):
        raise RuntimeError("no GPU")
    keys = jax.random.split(jax.random.key(1), 3)
    if elem.startswith("f"):
        x, y = (jax.random.uniform(k, (n,), ELEMS[elem]) for k in keys[:2])
    else:
        x, y = (jax.random.randint(k, (n,), 1, 1 << 30, ELEMS[elem]) for k in keys[:2])
    indices = jax.random.permutation(keys[2], n)
    last = [x]

    def jitted(function, *operands):
        compiled = jax.jit(function)

        def call():
            last[0] = compiled(*operands)
        return call

    operations = {
        "ADD": jitted(lambda a, b: a + b, x, y),
        "ADD_REDUCE": jitted(lambda a: a.sum(dtype=a.dtype), x),
        "ADD_SCAN": jitted(lambda a: jax.numpy.cumsum(a, dtype=a.dtype), x),
        "RANK_UP": jitted(jax.numpy.argsort, x), "BPERMUTE": jitted(lambda a, p: a[p], x, indices),
    }
    if elem.startswith("f"):
        operations["dot"] = jitted(jax.numpy.dot, x, y)
        operations["axpy"] = jitted(lambda a, b: a * 2.5 + b, x, y)
    return operations, lambda: jax.block_until_ready(last[0])


PEERS = {"CuPy": cupy_operations, "PyTorch": torch_operations, "JAX": jax_operations}


def sequence(operation, wait, times):
    wait()
    start = time.perf_counter()
    for _ in range(times):
        operation()
    wait()
    return (time.perf_counter() - start) / times


def measure(operation, wait, rounds):
    """Median, least and most seconds, and how many in a sequence."""
    sequence(operation, wait, 2)  # warms up: code, memory
    times = int(max(1, min(1000, SEQUENCE / max(1e-6, sequence(operation, wait, 1)))))
    seconds = sorted(sequence(operation, wait, times) for _ in range(rounds))
    return seconds[len(seconds) // 2], seconds[0], seconds[-1], times


def one_line(why):
    return (str(why).splitlines() or [repr(why)])[0][:100]


def rows_of(name, elem, n, rounds, end):
    """Measures all operations of a peer on one element type: a row each. Raises whatever a
    library raises that is not there."""
    operations, wait = PEERS[name](elem, n)
    wait()
    for what, operation in operations.items():
        if time.time() > end:
            print(f"{name} {elem} 2^{n.bit_length() - 1}: left out from {what} on: no time")
            return
        try:
            median, least, most, times = measure(operation, wait, rounds)
        except Exception as why:  # no memory, an operation it does not have
            print(f"{name} {what} {elem} 2^{n.bit_length() - 1}: {one_line(why)}")
            continue
        yield {"peer": name, "name": what, "elem": elem,
               "shape": "random" if what == "BPERMUTE" else "one", "n": n, "seconds": median,
               "least_seconds": least, "most_seconds": most, "times": times}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="file for the figures, a line each")
    parser.add_argument("--sizes", default="28,24,20", help="logarithms of numbers of elements")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    end, skipped = time.time() + options.seconds, set()
    sizes = [1 << int(size) for size in options.sizes.split(",")]
    with open(options.json or os.devnull, "w", encoding="ascii") as sink:
        for n, name, elem in itertools.product(sizes, PEERS, ELEMS):
            if name in skipped or time.time() > end:
                continue
            try:
                for row in rows_of(name, elem, n, options.rounds, end):
                    print(f"{name:8} {row['name']:18} {elem:5} {row['shape']:12} {n:<12} "
                          f"{1e6 * row['seconds']:11.2f} us", flush=True)
                    print(json.dumps(row), file=sink, flush=True)
            except Exception as why:  # a library that is not there fails in its own way
                print(f"{name} SKIPPED: {one_line(why)}")
                skipped.add(name)
    if time.time() > end:
        print("cut off: some is left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
