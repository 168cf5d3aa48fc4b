"""A program that knows the installed package alone."""

import sys

import ravel as rv


@rv.function
def halves(v):
    if len(v) < 2:
        return v
    middle = len(v) // 2
    return halves(v[middle:]) + halves(v[:middle])


rows = [[3.0, 1.0, 2.0], [], [5.0]]
found = (rv.eval("{sum(r) : r in rows}", rows=rows).to_list(), rv.map(halves, rows).to_list())
print(f"{rv.__version__}: {found}")
sys.exit(found != ([6.0, 0.0, 5.0], [[2.0, 1.0, 3.0], [], [5.0]]))
