"""What the papers published, of their machines and their day; for tables beside ours."""

# NESL/GPU (Bergstrom and Reppy, 2012), Table 1, milliseconds; None: not available.
NESL_GPU_MACHINE = "their GPU and CPU, 32-bit floats"
NESL_GPU_SYSTEMS = ("NESL/GPU", "CUDA", "Copperhead", "DPH", "NESL/CPU")
NESL_GPU = {
    "dot-product": (10**7, (3.0, "<1", 1240, 12, 27)),
    "quicksort": (10**6, (259, 3.1, 230, 2360, 230)),
    "black-scholes": (10**7, (164, 1.9, None, None, 8666)),
    "quickhull": (5 * 10**6, (283, 269, None, 807, 1000)),
    "barnes-hut": (75000, (671, 40, None, 10200, 2200)),
}
# Table 1, lines of code: NESL, CUDA, Copperhead, DPH.
NESL_GPU_LINES = {"dot-product": (8, 80, 31, 39), "quicksort": (12, 136, 46, 52),
                  "black-scholes": (37, 337, None, None), "quickhull": (25, None, None, 72),
                  "barnes-hut": (225, 1930, None, 414)}
# Table 2: time over that of code that is not optimised: optimised, fused.
NESL_GPU_NORMALISED = {"dot-product": (0.95, 0.94), "quicksort": (0.92, 0.93),
                       "black-scholes": (1.0, 0.68), "quickhull": (0.95, 0.91),
                       "barnes-hut": (0.85, 0.83)}

# Optimising Purely Functional GPU Programs (McDonell and others, 2013), Table 2, milliseconds on
# their GPU: size, contender and its time, Accelerate, and that without fusion and without sharing (None:
# what is left out was not needed).
ACCELERATE = {
    "black-scholes": ("20M", "CUDA", 6.70, 6.19, None, 116),
    "canny": ("16M", "OpenCV", 50.6, 78.4, None, 82.7),
    "dot-product": ("20M", "CUBLAS", 1.88, 2.35, 3.90, None),
    "fluid-flow": ("2M", "Repa, 7 cores", 5461, 107, None, 119),
    "mandelbrot": ("2M", "CUDA", 14.0, 24.0, 245, 245),
    "n-body": ("32k", "CUDA", 54.4, 607, "out of memory", "out of memory"),
    "radix-sort": ("4M", "Nikola", 780, 442, 657, 657),
    "sparse-matrix-vector": ("4M", "CUSP", 0.641, 0.637, 32.8, None),
}
# Table 3, GFLOP/s: CUSP, Accelerate, Accelerate without fusion.
SPARSE = {
    "dense": (14.48, 14.62, 3.41), "protein": (13.55, 13.65, 0.26),
    "fem-spheres": (12.63, 9.03, 4.70), "fem-cantilever": (11.98, 7.96, 4.41),
    "wind-tunnel": (11.98, 7.33, 4.62), "fem-harbour": (9.42, 6.14, 0.13),
    "qcd": (7.79, 4.66, 0.13), "fem-ship": (12.28, 6.60, 4.47),
    "economics": (4.59, 0.90, 1.06), "epidemiology": (6.42, 0.59, 0.91),
    "fem-accelerator": (5.41, 3.08, 2.92), "circuit": (3.56, 0.82, 1.08),
    "webbase": (2.11, 0.47, 0.74), "lp": (5.22, 5.04, 2.41),
}

# Barracuda (2010), chapter 4: by how much programs were faster than without shared memory, and one than
# without fusion, where arrays are large; the figures are plots without numbers.
BARRACUDA_SHARED = {"forward-difference": 4, "moving-average": 8, "jacobi": 2}
BARRACUDA_FUSED = {"rmse": 10}

# The sizes at which `bench/run --papers` measures: those of the papers' tables, and smaller ones for their
# figures of time by size.
SIZES = {
    "dot-product": [10**4, 10**5, 10**6, 10**7, 2 * 10**7],
    "quicksort": [10**3, 10**4, 10**5, 10**6],
    "black-scholes": [10**4, 10**5, 10**6, 10**7, 2 * 10**7],
    "quickhull": [5 * 10**3, 5 * 10**4, 5 * 10**5, 5 * 10**6],
    "barnes-hut": [750, 7500, 75000],
    "canny": [4096],
    "fluid-flow": [1448],
    "mandelbrot": [2 * 10**6],
    "n-body": [32768],
    "radix-sort": [4 * 10**6],
    "sparse-matrix-vector": [4 * 10**6],
    "segmented-sum": [10**7],
    "saxpy": [10**4, 10**5, 10**6, 10**7],
    "sdot": [10**4, 10**5, 10**6, 10**7],
    "rmse": [10**4, 10**5, 10**6, 10**7],
    "forward-difference": [10**4, 10**5, 10**6, 10**7],
    "moving-average": [10**4, 10**5, 10**6, 10**7],
    "jacobi": [64**2, 256**2, 1024**2, 2048**2],
}
