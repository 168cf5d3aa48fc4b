"""The functions of numbers that can be called, as data.

Each row: the function in Python, the types that it takes, the NESL function that computes it,
and the type that it gives. One that begins with `py_` is of prelude/ and may fail as Python's
does; NumPy's never fail.
"""

from __future__ import annotations

import math
from typing import Dict, List, NamedTuple

import numpy

from .types import BOOL, FLOAT, INT, Scalar

TYPES = {"int": INT, "float": FLOAT, "bool": BOOL}


class Row(NamedTuple):
    python: str
    takes: List[Scalar]
    nesl: str
    gives: Scalar


TABLE = """
    math.sqrt        float        py_sqrt          float
    math.exp         float        py_exp           float
    math.log         float        py_log           float
    math.log2        float        py_log2          float
    math.log10       float        py_log10         float
    math.sin         float        py_sin           float
    math.cos         float        py_cos           float
    math.tan         float        py_tan           float
    math.asin        float        py_asin          float
    math.acos        float        py_acos          float
    math.atan        float        atan             float
    math.atan2       float,float  py_atan2         float
    math.sinh        float        py_sinh          float
    math.cosh        float        py_cosh          float
    math.tanh        float        tanh             float
    math.asinh       float        py_real_asinh    float
    math.acosh       float        py_acosh         float
    math.atanh       float        py_atanh         float
    math.log1p       float        py_log1p         float
    math.expm1       float        py_checked_expm1 float
    math.exp2        float        py_exp2          float
    math.cbrt        float        py_cube_root     float
    math.isclose     float,float  py_is_close      bool
    math.hypot       float,float  py_hypot         float
    math.pow         float,float  py_float_power   float
    math.fmod        float,float  py_math_fmod     float
    math.fabs        float        py_float_abs     float
    math.degrees     float        py_degrees       float
    math.radians     float        py_radians       float
    math.isnan       float        py_is_nan        bool
    math.isinf       float        py_is_infinite   bool
    math.isfinite    float        py_is_finite     bool
    math.gcd         int,int      py_gcd           int
    math.lcm         int,int      py_lcm           int
    math.perm        int,int      py_permutations  int
    math.comb        int,int      py_combinations  int
    math.isqrt       int          py_isqrt         int
    math.factorial   int          py_factorial     int
    numpy.sqrt       float        py_real_sqrt     float
    numpy.exp        float        exp              float
    numpy.log        float        py_real_ln       float
    numpy.log2       float        py_real_log2     float
    numpy.log10      float        py_real_log10    float
    numpy.sin        float        sin              float
    numpy.cos        float        cos              float
    numpy.tan        float        tan              float
    numpy.arcsin     float        asin             float
    numpy.arccos     float        acos             float
    numpy.arctan     float        atan             float
    numpy.arctan2    float,float  py_atan2         float
    numpy.sinh       float        sinh             float
    numpy.cosh       float        cosh             float
    numpy.tanh       float        tanh             float
    numpy.arcsinh    float        py_real_asinh    float
    numpy.arccosh    float        py_real_acosh    float
    numpy.arctanh    float        py_real_atanh    float
    numpy.log1p      float        py_real_log1p    float
    numpy.expm1      float        py_expm1         float
    numpy.exp2       float        py_real_exp2     float
    numpy.cbrt       float        py_cube_root     float
    numpy.deg2rad    float        py_radians       float
    numpy.rad2deg    float        py_degrees       float
    numpy.fmod       float,float  py_fmod          float
    numpy.hypot      float,float  py_hypot         float
    numpy.floor      float        py_float_floor   float
    numpy.ceil       float        py_float_ceil    float
    numpy.trunc      float        py_float_trunc   float
    numpy.rint       float        py_even          float
    numpy.fabs       float        py_float_abs     float
    numpy.degrees    float        py_degrees       float
    numpy.radians    float        py_radians       float
    numpy.isnan      float        py_is_nan        bool
    numpy.isinf      float        py_is_infinite   bool
    numpy.isfinite   float        py_is_finite     bool
"""


def rows() -> List[Row]:
    found = []
    for line in TABLE.split("\n"):
        if line.strip():
            python, takes, nesl, gives = line.split()
            found.append(
                Row(python, [TYPES[name] for name in takes.split(",")], nesl, TYPES[gives]))
    return found


MODULES = {"math": math, "numpy": numpy}


def by_object() -> Dict[int, Row]:
    """The rows by the function itself, whatever it is called where it is used."""
    found = {}
    for row in rows():
        module, name = row.python.split(".")
        function = getattr(MODULES[module], name, None)  # some are of newer versions
        if function is not None:
            found[id(function)] = row
    return found


BY_OBJECT = by_object()
