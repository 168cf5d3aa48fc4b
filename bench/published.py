"""What the papers published, of their machines and their day; for tables beside ours."""

# NESL/GPU (Bergstrom and Reppy, 2012), Table 1, milliseconds; None: not available.
NESL_GPU_MACHINE = "NESL/GPU 2012, Table 1: their GPU and CPU, 32-bit floats, ms"
NESL_GPU_SYSTEMS = ("NESL/GPU", "CUDA", "Copperhead", "DPH", "NESL/CPU")
NESL_GPU = {
    "dot-product": (10**7, (3.0, "<1", 1240, 12, 27)),
    "quicksort": (10**6, (259, 3.1, 230, 2360, 230)),
    "black-scholes": (10**7, (164, 1.9, None, None, 8666)),
    "quickhull": (5 * 10**6, (283, 269, None, 807, 1000)),
    "barnes-hut": (75000, (671, 40, None, 10200, 2200)),
}
# Table 1, lines of code: NESL and CUDA.
NESL_GPU_LINES = {"dot-product": (8, 80), "quicksort": (12, 136), "black-scholes": (37, 337),
                  "quickhull": (25, None), "barnes-hut": (225, 1930)}
# Table 2: time over that of code that is not optimised: optimised, fused.
NESL_GPU_NORMALISED = {"dot-product": (0.95, 0.94), "quicksort": (0.92, 0.93),
                       "black-scholes": (1.0, 0.68), "quickhull": (0.95, 0.91),
                       "barnes-hut": (0.85, 0.83)}

# Optimising Purely Functional GPU Programs (McDonell and others, 2013), Table 2, milliseconds on
# their GPU: size, contender and its time, Accelerate, Accelerate without fusion.
ACCELERATE = {
    "black-scholes": ("20M", "CUDA", 6.70, 6.19, None),
    "canny": ("16M", "OpenCV", 50.6, 78.4, None),
    "dot-product": ("20M", "CUBLAS", 1.88, 2.35, 3.90),
    "fluid-flow": ("2M", "Repa, 7 cores", 5461, 107, None),
    "mandelbrot": ("2M", "CUDA", 14.0, 24.0, 245),
    "n-body": ("32k", "CUDA", 54.4, 607, "out of memory"),
    "radix-sort": ("4M", "Nikola", 780, 442, 657),
    "sparse-matrix-vector": ("4M", "CUSP", 0.641, 0.637, 32.8),
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

# Obsidian (Svensson, Sheerand and others), Figures 3 and 10: seconds for 1000 runs, so
# milliseconds for one, the best number of threads on a GTX 680 and on a Tesla c2070.
OBSIDIAN_MANDELBROT = {256: (0.12, 0.36), 512: (0.34, 1.14), 1024: (1.05, 3.95),
                       2048: (3.67, 14.38), 4096: (13.69, 54.94)}
OBSIDIAN_REDUCE = (2**24, 0.706, 2.48)   # words, Obsidian and Accelerate on the Tesla
