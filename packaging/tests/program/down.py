"""A program that knows the installed package alone."""
import sys

import ravel

rows = [[3.0, 1.0, 2.0], [], [5.0]]
sums = ravel.eval("{sum(r) : r in rows}", rows=rows).to_list()
down = ravel.eval("{reverse(sort(r)) : r in rows}", rows=rows).to_list()
print(f"{ravel.__version__}: {sums} {down}")
sys.exit(sums != [6.0, 0.0, 5.0] or down != [[3.0, 2.0, 1.0], [], [5.0]])
