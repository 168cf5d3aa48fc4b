"""Stable fluids in NumPy: tables with a wall of zeros, and slices of them."""

import numpy as np

ROUNDS = 40


def relax(x, x0, a, k):
    for _ in range(ROUNDS):
        y = np.zeros_like(x)
        y[1:-1, 1:-1] = k * (x0[1:-1, 1:-1] + a * (x[1:-1, :-2] + x[1:-1, 2:]
                                                   + x[:-2, 1:-1] + x[2:, 1:-1]))
        x = y
    return x


def diffuse(x, rate):
    return relax(x, x, rate, 1 / (1 + 4 * rate))


def advect(field, u, v, dt):
    rows, columns = field.shape
    i, j = np.ogrid[1:rows - 1, 1:columns - 1]
    x = np.clip(j - dt * u[1:-1, 1:-1], 0.5, columns - 1.5)
    y = np.clip(i - dt * v[1:-1, 1:-1], 0.5, rows - 1.5)
    column, row = x.astype(int), y.astype(int)
    s, t = x - column, y - row
    to = np.zeros_like(field)
    to[1:-1, 1:-1] = ((1 - t) * ((1 - s) * field[row, column] + s * field[row, column + 1])
                      + t * ((1 - s) * field[row + 1, column] + s * field[row + 1, column + 1]))
    return to


def project(u, v):
    sources = np.zeros_like(u)
    sources[1:-1, 1:-1] = -0.5 * (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1])
    p = relax(np.zeros_like(u), sources, 1, 0.25)
    u, v = u.copy(), v.copy()
    u[1:-1, 1:-1] -= 0.5 * (p[1:-1, 2:] - p[1:-1, :-2])
    v[1:-1, 1:-1] -= 0.5 * (p[2:, 1:-1] - p[:-2, 1:-1])
    return u, v


def numpy(density, u, v, columns, dt, diffusion, viscosity):
    density, u, v = (field.reshape(-1, columns) for field in (density, u, v))
    u, v = project(diffuse(u, dt * viscosity), diffuse(v, dt * viscosity))
    u, v = project(advect(u, u, v, dt), advect(v, u, v, dt))
    density = advect(diffuse(density, dt * diffusion), u, v, dt)
    return [field.ravel() for field in (density, u, v)]
