"""Finds libravel and declares its functions: all that this package knows of Ravel.

`include/ravel.h` is the reference. Functions are called without the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64,
                    c_size_t, c_uint32, c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Iterator

PROGRESS = CFUNCTYPE(c_bool, c_void_p)


class Diagnostic(Structure):
    """struct ravel_diagnostic"""
    _fields_ = [("severity", c_int), ("file", c_char_p), ("line", c_uint32),
                ("column", c_uint32), ("message", c_char_p)]


class Statistics(Structure):
    """struct ravel_statistics"""
    _fields_ = [("seconds", c_double), ("compile_seconds", c_double),
                ("live_bytes", c_uint64), ("peak_bytes", c_uint64)]


class Costs(Structure):
    """struct ravel_costs"""
    _fields_ = [("work", c_double), ("depth", c_double), ("compiled_work", c_uint64),
                ("compiled_steps", c_uint64), ("instructions", c_uint64), ("seconds", c_double)]


class Random(Structure):
    """struct ravel_random"""
    _fields_ = [("seed", c_uint64), ("count", c_uint64)]


CODE, NOTHING, TEXT = c_int, None, c_char_p
OPTIONS = CONTEXT = FUNCTION = VALUE = STRUCT = DATA = c_void_p
OUT = POINTER(c_void_p)

# The functions that are used: what each returns and takes.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "ravel_version": (TEXT, []),
    "ravel_options_new": (OPTIONS, []),
    "ravel_options_set": (CODE, [OPTIONS, TEXT, TEXT]),
    "ravel_options_free": (NOTHING, [OPTIONS]),
    "ravel_context_new": (CODE, [OPTIONS, OUT]),
    "ravel_context_free": (NOTHING, [CONTEXT]),
    "ravel_context_set": (CODE, [CONTEXT, TEXT, TEXT]),
    "ravel_get_random": (NOTHING, [CONTEXT, POINTER(Random)]),
    "ravel_set_random": (NOTHING, [CONTEXT, POINTER(Random)]),
    "ravel_message": (TEXT, [CONTEXT]),
    "ravel_get_diagnostic": (c_bool, [CONTEXT, c_size_t, POINTER(Diagnostic)]),
    "ravel_define": (CODE, [CONTEXT, TEXT, TEXT, c_size_t]),
    "ravel_find": (CODE, [CONTEXT, TEXT, TEXT, OUT]),
    "ravel_expression": (CODE, [CONTEXT, TEXT, TEXT, TEXT, OUT]),
    "ravel_function_takes": (TEXT, [FUNCTION]),
    "ravel_function_gives": (TEXT, [FUNCTION]),
    "ravel_function_release": (NOTHING, [FUNCTION]),
    "ravel_call": (CODE, [CONTEXT, FUNCTION, POINTER(c_void_p), c_size_t, OUT]),
    "ravel_cost": (CODE, [CONTEXT, FUNCTION, POINTER(c_void_p), c_size_t, POINTER(Costs)]),
    "ravel_profile": (TEXT, [CONTEXT]),
    "ravel_explain": (TEXT, [CONTEXT, FUNCTION]),
    "ravel_release": (NOTHING, [VALUE]),
    "ravel_int": (CODE, [CONTEXT, c_int64, OUT]),
    "ravel_float": (CODE, [CONTEXT, c_double, OUT]),
    "ravel_bool": (CODE, [CONTEXT, c_bool, OUT]),
    "ravel_vector": (CODE, [CONTEXT, c_int, DATA, c_size_t, OUT]),
    "ravel_borrow": (CODE, [CONTEXT, c_int, DATA, c_size_t, OUT]),
    "ravel_nested": (CODE, [CONTEXT, DATA, c_size_t, VALUE, OUT]),
    "ravel_tuple": (CODE, [CONTEXT, POINTER(c_void_p), c_size_t, OUT]),
    "ravel_type": (TEXT, [VALUE]),
    "ravel_length": (CODE, [CONTEXT, VALUE, POINTER(c_size_t)]),
    "ravel_component": (CODE, [CONTEXT, VALUE, c_size_t, OUT]),
    "ravel_get_int": (CODE, [CONTEXT, VALUE, POINTER(c_int64)]),
    "ravel_get_float": (CODE, [CONTEXT, VALUE, POINTER(c_double)]),
    "ravel_get_bool": (CODE, [CONTEXT, VALUE, POINTER(c_bool)]),
    "ravel_copy": (CODE, [CONTEXT, VALUE, c_int, c_size_t, c_size_t, DATA]),
    "ravel_import": (CODE, [CONTEXT, STRUCT, STRUCT, OUT]),
    "ravel_import_stream": (CODE, [CONTEXT, STRUCT, OUT]),
    "ravel_export": (CODE, [CONTEXT, VALUE, STRUCT, STRUCT]),
    "ravel_export_stream": (CODE, [CONTEXT, VALUE, c_size_t, STRUCT]),
    "ravel_import_dlpack": (CODE, [CONTEXT, STRUCT, OUT]),
    "ravel_import_dlpack_unversioned": (CODE, [CONTEXT, STRUCT, OUT]),
    "ravel_export_dlpack": (CODE, [CONTEXT, VALUE, OUT]),
    "ravel_export_dlpack_unversioned": (CODE, [CONTEXT, VALUE, OUT]),
    "ravel_cuda_device": (c_int, [CONTEXT]),
    "ravel_remark": (TEXT, [CONTEXT]),
    "ravel_compiler": (TEXT, [CONTEXT]),
    "ravel_on_progress": (NOTHING, [CONTEXT, PROGRESS, DATA]),
    "ravel_interrupt": (NOTHING, [CONTEXT]),
    "ravel_get_statistics": (NOTHING, [CONTEXT, POINTER(Statistics)]),
    # libravel/python.h
    "ravel_python_begin": (NOTHING, [STRUCT]),
    "ravel_python_release_schema": (NOTHING, [STRUCT]),
    "ravel_python_release_array": (NOTHING, [STRUCT]),
    "ravel_python_stream": (c_bool, [STRUCT, STRUCT, STRUCT]),
    "ravel_python_end_capsule": (NOTHING, [c_void_p]),
}
# What libravel calls of the interpreter (struct ravel_python), in this order.
OF_PYTHON = ("Py_IsInitialized", "PyGILState_Ensure", "PyGILState_Release", "Py_DecRef",
             "PyCapsule_GetName", "PyCapsule_GetPointer", "PyCapsule_GetContext")


def paths() -> Iterator[str]:
    """Where libravel may be: where the user says, or else the nearest first."""
    named = os.environ.get("RAVEL_LIBRARY")
    if named:
        yield named
        return
    package = Path(__file__).resolve().parent
    yield str(package / "lib" / "libravel.so")
    yield str(package.parent.parent / "build" / "lib" / "libravel.so")
    yield ctypes.util.find_library("ravel") or "libravel.so.0"


def open_library() -> ctypes.CDLL:
    """The first libravel of `paths` that can be opened; ImportError says what was tried."""
    tried = []
    for path in paths():
        if os.sep in path and not os.path.exists(path):
            tried.append(f"{path}: there is no such file")
            continue
        try:
            return declare(ctypes.CDLL(path), path)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libravel was not found; RAVEL_LIBRARY may name it. Tried:\n  " +
                      "\n  ".join(tried))


def declare(library: ctypes.CDLL, path: str) -> ctypes.CDLL:
    """The library, its functions declared; ImportError if it lacks some of them."""
    for name, (result, parameters) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is of another version than this"
                              " package") from None
        function.restype, function.argtypes = result, parameters
    return library


def address(function: Any) -> int:
    """Of a function of C."""
    return ctypes.cast(function, c_void_p).value or 0


lib: Any = open_library()
lib.ravel_python_begin((c_void_p * len(OF_PYTHON))(
    *(address(getattr(ctypes.pythonapi, name)) for name in OF_PYTHON)))


def text(pointed: bytes | None) -> str:
    """A text of the library."""
    return (pointed or b"").decode(errors="replace")
