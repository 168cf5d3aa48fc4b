"""Tensors of DLPack on the device of a context, into it and out of it.

Those on the CPU come and go by NumPy. Capsules: https://dmlc.github.io/dlpack/latest/python_spec.html
"""

from __future__ import annotations

import ctypes
from ctypes import (CFUNCTYPE, PYFUNCTYPE, Structure, byref, c_char_p, c_int, c_int32, c_int64,
                    c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, Tuple

from ravel._arrow import keep
from ravel._context import Context
from ravel._errors import DataError
from ravel._lib import lib
from ravel._transfer import new_capsule, pointer_in
from ravel._values import Value

CPU = 1
CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
TENSORS = ("[int]", "[float]", "[bool]")
DEFAULT_STREAM = 1  # CUDA's, for which libravel waits
DELETER = CFUNCTYPE(None, c_void_p)


class Tensor(Structure):
    """DLTensor"""
    _fields_ = [("data", c_void_p), ("device_type", c_int), ("device_id", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", ctypes.POINTER(c_int64)), ("strides", ctypes.POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class Unversioned(Structure):
    """DLManagedTensor"""
    _fields_ = [("tensor", Tensor), ("manager_ctx", c_void_p), ("deleter", DELETER)]


class Versioned(Structure):
    """DLManagedTensorVersioned"""
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager_ctx", c_void_p),
                ("deleter", DELETER), ("flags", c_uint64), ("tensor", Tensor)]


# Names of capsules, which must outlive them; others rename a capsule when they take the tensor.
NAMES: Dict[Any, Any] = {Unversioned: c_char_p(b"dltensor"),
                         Versioned: c_char_p(b"dltensor_versioned")}
USED: Dict[Any, Any] = {Unversioned: c_char_p(b"used_dltensor"),
                        Versioned: c_char_p(b"used_dltensor_versioned")}
keep((NAMES, USED))  # even when the interpreter ends
IMPORTS = {Unversioned: lib.ravel_import_dlpack_unversioned, Versioned: lib.ravel_import_dlpack}
EXPORTS = {Unversioned: lib.ravel_export_dlpack_unversioned, Versioned: lib.ravel_export_dlpack}

_is_valid = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_rename = PYFUNCTYPE(c_int, c_void_p, c_void_p)(("PyCapsule_SetName", ctypes.pythonapi))


def device(context: Context) -> Tuple[int, int]:
    """Where its values are, as `__dlpack_device__` says it."""
    number = context.cuda_device()
    return (CUDA[0], number) if number >= 0 else (CPU, 0)


def on_device(context: Context) -> bool:
    """Whether its values are on a device of CUDA."""
    return device(context)[0] != CPU


# ---- in ----


def _capsule_of(producer: Any) -> Any:
    try:
        return producer.__dlpack__(stream=DEFAULT_STREAM, max_version=(1, 0))
    except TypeError:  # it is older than versions
        return producer.__dlpack__(stream=DEFAULT_STREAM)


def value_of(context: Context, producer: Any) -> Value:
    """Of a tensor on the context's device; DataError for one on another."""
    capsule = _capsule_of(producer)

    def take() -> Value:
        for kind, name in NAMES.items():
            if _is_valid(id(capsule), name.value):
                pointer = pointer_in(capsule, name.value)
                _rename(id(capsule), ctypes.cast(USED[kind], c_void_p))
                return context.make(IMPORTS[kind], pointer)
        raise DataError(f"the __dlpack__ of {type(producer).__name__} gives no tensor")

    return context.run(take)


# ---- out ----


def capsule(value: Value, versioned: bool) -> Any:
    """A flat sequence on the device of its context."""
    kind: Any = Versioned if versioned else Unversioned
    context, made = value.context, c_void_p()
    context.run(lambda: context.do(EXPORTS[kind], value.pointer, byref(made)))
    assert made.value
    return new_capsule(made.value, NAMES[kind])
