#!/usr/bin/env python3
"""Runs a baseline written for an array library of Python, like serve.c those in C.

    peer.py --system NAME [--repeat N] [--widths W] [-o FILE]... -- BASELINE.py ARGUMENT...

A function of the baseline has the system's name. For numpy and scipy it takes the arguments alone;
for the others first the module whose functions it calls (torch, jax.numpy, cupy), and arguments are
arrays of that module, on the GPU if there is one. A result that is not there yet is waited for.
Prints {"first_seconds": ..., "seconds": [...], "peak_bytes": ...}.
"""

import argparse
import importlib
import importlib.util
import json
import resource
import sys
import time
from pathlib import Path


class Library:
    """How a library takes arrays in and gives them back."""

    def __init__(self, name):
        self.name = name
        self.numpy = importlib.import_module("numpy")
        self.device = ""
        if name == "scipy":
            importlib.import_module("scipy.sparse")
        if name == "torch":
            self.torch = importlib.import_module("torch")
            self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        if name == "jax":
            self.jax = importlib.import_module("jax")
            self.jax.config.update("jax_enable_x64", True)
            self.module = importlib.import_module("jax.numpy")
            self.device = self.jax.devices()[0].platform
        if name == "cupy":
            self.module = importlib.import_module("cupy")
            self.module.cuda.runtime.getDeviceCount()  # fails where there is none
            self.device = "cuda"

    def take(self, array):
        if self.name == "torch":
            return self.torch.from_numpy(array.copy()).to(self.device)
        if self.name in ("jax", "cupy"):
            return self.module.asarray(array)
        return array

    def function(self, baseline):
        function = getattr(baseline, self.name)
        if self.name in ("numpy", "scipy"):
            return function
        module = self.torch if self.name == "torch" else self.module
        return lambda *arguments: function(module, *arguments)

    def wait(self, results):
        if self.name == "torch" and self.device == "cuda":
            self.torch.cuda.synchronize()
        if self.name == "jax":
            self.jax.block_until_ready(results)
        if self.name == "cupy":
            self.module.cuda.Device().synchronize()

    def give(self, array):
        if self.name == "torch":
            array = array.cpu().numpy()
        if self.name == "cupy":
            array = self.module.asnumpy(array)
        return self.numpy.atleast_1d(self.numpy.asarray(array))


def argument(library, word, widths):
    numpy = library.numpy
    if not word.endswith(".npy"):
        return json.loads(word)
    array = numpy.load(word)
    if array.dtype.kind == "S":
        text = array.tobytes()
        array = numpy.frombuffer(b"" if text == b"\0" else text, numpy.uint8)
    if array.dtype == numpy.int64 and widths in ("classic", "32"):
        array = array.astype(numpy.int32)
    if array.dtype == numpy.float64 and widths == "32":
        array = array.astype(numpy.float32)
    return library.take(array)


def load_baseline(path):
    spec = importlib.util.spec_from_file_location("bench_baseline", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--system", default="numpy")
    parser.add_argument("--have", help="exit status 0 if this library is here")
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--widths", default="64")
    parser.add_argument("-o", action="append", default=[], dest="outputs")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if options.have:
        try:
            Library(options.have)
        except Exception as error:  # whatever an installation lacks
            print(f"{options.have}: {error}".split("\n")[0])
            return 1
        return 0
    library = Library(options.system)
    function = library.function(load_baseline(Path(options.words[0])))
    arguments = [argument(library, w, options.widths) for w in options.words[1:]]
    started = time.perf_counter()
    results = function(*arguments)
    library.wait(results)
    first = time.perf_counter() - started
    seconds = []
    for _ in range(options.repeat):
        started = time.perf_counter()
        results = function(*arguments)
        library.wait(results)
        seconds.append(time.perf_counter() - started)
    for path, result in zip(options.outputs, results):
        library.numpy.save(path, library.give(result))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"first_seconds": first, "seconds": seconds, "peak_bytes": peak,
                      "device": library.device}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
