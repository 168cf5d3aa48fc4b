"""Comparison of the outputs of VCODE programs, line by line and token by token.

Tokens with a point or an exponent are FLOATs, which agree within a relative tolerance; NaNs are
equal whatever their sign. All other tokens are compared as text.
"""

import math

# Relative tolerance by width of FLOAT: sums may be associated differently from the expected.
TOLERANCE = {64: 1e-9, 32: 2e-5}


def is_float(token):
    if token in ("inf", "-inf", "nan", "-nan"):
        return True
    if not any(c in token for c in ".eE"):
        return False
    try:
        float(token)
    except ValueError:
        return False
    return True


def same_token(got, want, tolerance):
    if got == want:
        return True
    if not (is_float(got) and is_float(want)):
        return False
    a, b = float(got), float(want)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def difference(got, want, tolerance):
    """The first difference of two texts in words, or None if they agree."""
    got_lines = [line.rstrip() for line in got.split("\n")]
    want_lines = [line.rstrip() for line in want.split("\n")]
    while got_lines and not got_lines[-1]:
        got_lines.pop()
    while want_lines and not want_lines[-1]:
        want_lines.pop()
    for number, (a, b) in enumerate(zip(got_lines, want_lines), 1):
        tokens_a, tokens_b = a.split(), b.split()
        if len(tokens_a) != len(tokens_b) or not all(
            same_token(x, y, tolerance) for x, y in zip(tokens_a, tokens_b)
        ):
            return f"line {number}: got {a[:100]!r}, want {b[:100]!r}"
    if len(got_lines) != len(want_lines):
        return f"got {len(got_lines)} lines, want {len(want_lines)}"
    return None
