"""The C interface of libautotune (autotune.h) for ctypes."""
from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.join(HERE, "_tree")

INTEGER, NUMBER, BOOLEAN, TEXT = range(4)


class CError(ctypes.Structure):
    _fields_ = [("status", c_int), ("line", c_int), ("file", c_char * 512), ("message", c_char * 3072)]


class CVariable(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("integer", c_int64), ("number", c_double), ("text", c_char_p)]


class CGpu(ctypes.Structure):
    _fields_ = [("name", c_char * 256), ("major", c_int), ("minor", c_int)]


class CTuneOptions(ctypes.Structure):
    _fields_ = [("budget_s", c_double), ("share", c_double), ("script", c_char_p), ("program", c_char_p)]


class CKernelOptions(ctypes.Structure):
    _fields_ = [("script", c_char_p), ("share", c_char_p), ("cache", c_char_p), ("no_cache", c_int),
                ("includes", POINTER(c_char_p)), ("include_count", c_size_t)]


class CParameter(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("count", c_size_t), ("integers", POINTER(c_int64)),
                ("numbers", POINTER(c_double)), ("texts", POINTER(c_char_p))]


class CValues(ctypes.Structure):
    _fields_ = [("items", POINTER(CVariable)), ("count", c_size_t), ("ticket", c_uint64), ("configuration", c_uint32)]


class CSitesOptions(ctypes.Structure):
    _fields_ = [("folder", c_char_p), ("code", c_char_p), ("share", c_double), ("clock", c_int), ("broadcast", c_void_p),
                ("context", c_void_p), ("rank", c_int)]


class CReport(ctypes.Structure):
    _fields_ = [("state", c_int), ("calls", c_uint64), ("trials", c_uint64), ("seen_ns", c_int64), ("spent_ns", c_int64),
                ("values", CValues)]


class Error(Exception):
    """An error of autotune. `status` is the library's name of the error ("script", "no_device" ...); `file` and `line`
    are its place, if it has one."""

    def __init__(self, message: str, status: str = "internal", file: str | None = None, line: int | None = None) -> None:
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(place + message)
        self.status, self.file, self.line = status, file, line


class UsageError(Error, ValueError):
    """An argument is wrong."""


class ScriptError(Error):
    """A pattern script, an expression or a template is wrong."""


class NotFoundError(Error, LookupError):
    """There are no results, or no possible configuration."""


class NoDeviceError(Error, RuntimeError):
    """There is no usable GPU, driver or context."""


class NoToolchainError(Error, RuntimeError):
    """There is no usable NVRTC."""


class InterruptedTuning(Error):
    """The tuning was interrupted; its measurements are kept."""


KINDS = {"usage": UsageError, "script": ScriptError, "not_found": NotFoundError, "no_device": NoDeviceError,
         "no_toolchain": NoToolchainError, "interrupted": InterruptedTuning}


def make_error(message: str, status: str, file: str | None = None, line: int | None = None) -> Error:
    return KINDS.get(status, Error)(message, status, file, line)


def find_nvrtc() -> str | None:
    """Returns the path of the NVRTC in NVIDIA's wheels; None if it is not installed (then the system's NVRTC is used)."""
    import glob
    for folder in sys.path:
        for part in "cu13", "cuda_nvrtc":
            found = sorted(glob.glob(os.path.join(folder, "nvidia", part, "lib", "libnvrtc.so.*[0-9]")))
            if found:
                return found[0]
    return None


def environment() -> dict[str, str]:
    """Returns the environment for the program autotune, with the path of the NVRTC in the wheel."""
    env = dict(os.environ)
    if "AUTOTUNE_NVRTC" not in env:
        nvrtc = find_nvrtc()
        if nvrtc:
            env["AUTOTUNE_NVRTC"] = nvrtc
    return env


def program() -> str:
    """Returns the path of the program `autotune`: the wheel's program or, without it, the first on PATH."""
    own = os.path.join(TREE, "bin", "autotune")
    if os.path.exists(own):
        return own
    import shutil
    found = shutil.which("autotune")
    if not found:
        raise NotFoundError("the program autotune was found neither in this package nor in PATH: install it, or add its folder to PATH", "not_found")
    return found


def _open() -> ctypes.CDLL:
    own = os.path.join(TREE, "lib", "libautotune.so")
    given = os.environ.get("AUTOTUNE_LIBRARY")
    try:
        return ctypes.CDLL(given or (own if os.path.exists(own) else "libautotune.so"))
    except OSError as e:
        raise NotFoundError(f"libautotune cannot be opened: {e}", "not_found") from None


def _declare(lib: ctypes.CDLL) -> None:
    handle, error = c_void_p, POINTER(CError)
    for name, result, *arguments in (
            ("version", c_char_p), ("status_name", c_char_p, c_int), ("rule_name", c_char_p, c_int),
            ("open", c_int, c_char_p, POINTER(handle), error), ("results_problem", c_char_p, handle, c_size_t),
            ("close", None, handle), ("current_gpu", c_int, POINTER(CGpu), error),
            ("pick", c_int, handle, c_char_p, POINTER(CGpu), POINTER(CVariable), c_size_t, POINTER(handle), error),
            ("tune", c_int, handle, c_char_p, POINTER(CVariable), c_size_t, POINTER(CTuneOptions), error),
            ("tune_wait", c_int, handle, c_char_p, POINTER(CVariable), c_size_t, c_int64, POINTER(c_int), error),
            ("choice_free", None, handle), ("choice_rule", c_int, handle), ("choice_checked", c_int, handle),
            ("choice_gpu", c_char_p, handle), ("choice_time_ns", c_int64, handle), ("choice_text", c_char_p, handle),
            ("choice_count", c_size_t, handle), ("choice_at", CVariable, handle, c_size_t),
            ("prepare", c_int, handle, POINTER(CKernelOptions), POINTER(handle), error), ("kernel_free", None, handle),
            ("kernel_text", c_char_p, handle), ("kernel_source", c_char_p, handle),
            ("kernel_buffer_count", c_size_t, handle), ("kernel_buffer_name", c_char_p, handle, c_size_t),
            ("kernel_buffer_bytes", c_uint64, handle, c_size_t),
            ("launch", c_int, handle, c_void_p, POINTER(c_uint64), error),
            ("sites_open", c_int, POINTER(CSitesOptions), POINTER(handle), error), ("sites_close", None, handle),
            ("sites_problem", c_char_p, handle, c_size_t),
            ("site_open", c_int, handle, c_char_p, POINTER(CVariable), c_size_t, POINTER(CParameter), c_size_t,
             POINTER(handle), error),
            ("site_begin", c_int, handle, c_void_p, POINTER(CValues), error),
            ("site_end", c_int, handle, c_void_p, POINTER(CValues), error),
            ("site_invalid", c_int, handle, POINTER(CValues), error), ("site_freeze", c_int, handle, error),
            ("site_get", c_int, handle, POINTER(CReport), error)):
        function = getattr(lib, "at_" + name)
        function.restype, function.argtypes = result, arguments


_lib: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """Returns the library. The first call opens it."""
    global _lib
    if _lib is None:
        if "AUTOTUNE_NVRTC" not in os.environ:
            nvrtc = find_nvrtc()
            if nvrtc:
                os.environ["AUTOTUNE_NVRTC"] = nvrtc
        lib = _open()
        _declare(lib)
        _lib = lib
    return _lib


def call(name: str, *arguments: Any) -> str:
    """Calls a function of the library, and raises its error. Returns the message that it wrote on success."""
    lib, error = library(), CError()
    status = getattr(lib, "at_" + name)(*arguments, byref(error))
    if status:
        raise make_error(error.message.decode("utf-8", "replace"), lib.at_status_name(status).decode(),
                         os.fsdecode(error.file) or None, error.line or None)
    said: bytes = error.message
    return said.decode("utf-8", "replace")


def is_bool(value: Any) -> bool:
    """Returns whether the value is a bool of Python or of NumPy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def to_variables(values: dict[str, Any]) -> Any:
    """Converts named values to the library's variables. A bool becomes a boolean, not an integer."""
    out = (CVariable * max(len(values), 1))()
    for v, (name, value) in zip(out, values.items()):
        v.name = name.encode()
        if is_bool(value):
            v.kind, v.integer = BOOLEAN, bool(value)
        elif isinstance(value, str):
            v.kind, v.text = TEXT, value.encode()
        elif hasattr(value, "__index__"):
            v.kind, v.integer = INTEGER, value.__index__()
        elif hasattr(value, "__float__"):
            v.kind, v.number = NUMBER, float(value)
        else:
            raise UsageError(f"the variable {name} is a {type(value).__name__}: give a number, a bool or a str", "usage")
    return out


def to_value(v: CVariable) -> int | float | bool | str:
    if v.kind == TEXT:
        return str(v.text, "utf-8", "replace")
    return float(v.number) if v.kind == NUMBER else bool(v.integer) if v.kind == BOOLEAN else int(v.integer)
