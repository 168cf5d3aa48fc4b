"""Mandelbrot in array libraries of Python: all points step by step; those that left keep their
numbers, or overflow where nobody looks."""

import numpy as np


def plane(np, rows, columns, **more):
    return (3.0 * np.arange(columns, **more) / max(columns, 1) - 2.2,
            2.0 * np.arange(rows, **more) / max(rows, 1) - 1.0)


def numpy(rows, columns, most):
    """Only the points that are left: what makes sense where memory is read for each step."""
    x, y = plane(np, rows, columns)
    c = (x[None, :] + 1j * y[:, None]).ravel()
    counts = np.zeros(c.size, np.int64)
    z, left = np.zeros_like(c), np.arange(c.size)
    for _ in range(most):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        if not inside.all():
            z, c, left = z[inside], c[inside], left[inside]
        if not left.size:
            break
        counts[left] += 1
        z = z * z + c
    return [counts]


def stepwise(np, cx, cy, counts, most, where):
    x, y = 0 * cx + 0 * cy, 0 * cx + 0 * cy
    for _ in range(most):
        inside = x * x + y * y <= 4.0
        counts = counts + inside
        x, y = where(inside, x * x - y * y + cx, x), where(inside, 2 * x * y + cy, y)
    return counts


def torch(torch_module, rows, columns, most):
    device = "cuda" if torch_module.cuda.is_available() else "cpu"
    x, y = plane(torch_module, rows, columns, dtype=torch_module.float64, device=device)
    counts = torch_module.zeros(rows, columns, dtype=torch_module.int64, device=device)
    return [stepwise(torch_module, x[None, :], y[:, None], counts, most,
                     torch_module.where).reshape(-1)]


def cupy(cp, rows, columns, most):
    x, y = plane(cp, rows, columns)
    counts = cp.zeros((rows, columns), cp.int64)
    return [stepwise(cp, x[None, :], y[:, None], counts, most, cp.where).reshape(-1)]


def jax(jnp, rows, columns, most):
    import jax as library

    x, y = plane(jnp, rows, columns)
    cx, cy = x[None, :], y[:, None]

    def step(_, state):
        x, y, counts = state
        inside = x * x + y * y <= 4.0
        return (jnp.where(inside, x * x - y * y + cx, x), jnp.where(inside, 2 * x * y + cy, y),
                counts + inside)

    zero = jnp.zeros((rows, columns))
    loop = library.jit(lambda: library.lax.fori_loop(
        0, most, step, (zero, zero, jnp.zeros((rows, columns), jnp.int64))))
    return [loop()[2].reshape(-1)]
