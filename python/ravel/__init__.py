"""Nested data parallelism for Python: functions of NESL and Python, on all cores or a GPU.

    import ravel as rv
    rv.eval("{sum(r) : r in xs}", xs=[[1.0, 2.0], [], [3.0]])

docs/python.md of the project is the guide.
"""

from ravel._array import Array, Instance, array
from ravel._errors import (DataError, DeniedError, DeviceError, Diagnostic, Error,
                           InternalError, InterruptedCall, LimitError, MisuseError,
                           NeslSyntaxError, NeslTypeError, OutOfMemoryError, RunError)
from ravel._function import function
from ravel._functions import Cost, Function, Module, define, eval, load, map, profile
from ravel._lib import lib as _lib
from ravel._options import close, info, options
from ravel._translate import Unsupported


def load_ipython_extension(shell: object) -> None:
    """For `%load_ext ravel`."""
    from ravel._magic import load as load_magic  # pylint: disable=import-outside-toplevel
    load_magic(shell)


__version__: str = _lib.ravel_version().decode()

__all__ = ["Array", "Cost", "DataError", "DeniedError", "DeviceError", "Diagnostic", "Error",
           "Function", "Instance", "InternalError", "InterruptedCall", "LimitError",
           "MisuseError", "Module", "NeslSyntaxError", "NeslTypeError", "OutOfMemoryError",
           "RunError", "Unsupported", "array", "close", "define", "eval", "function", "info", "load",
           "map", "options", "profile"]
