"""Device arrays of other packages: the address of their data, and their stream."""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Iterable, Sequence

from ._library import UsageError


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_ON_A_GPU = 2, 13  # kDLCUDA, kDLCUDAManaged


def _is_dense(shape: Sequence[int], strides: Sequence[int], unit: int) -> bool:
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length > 1 and stride != unit:
            return False
        unit *= length
    return True


def _size(shape: Iterable[int]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _from_interface(array: Any) -> tuple[int, int]:
    facts = array.__cuda_array_interface__
    item_bytes = int(facts["typestr"].lstrip("<>|=biufcVOSU") or 1)
    shape, strides = facts["shape"], facts.get("strides")
    if strides is not None and not _is_dense(shape, strides, item_bytes):
        raise UsageError("an array has gaps between its elements: make it contiguous", "usage")
    return facts["data"][0] or 0, _size(shape) * item_bytes


def _from_dlpack(array: Any) -> tuple[int, int]:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The capsule is only read, not consumed: the array keeps its data.
    tensor = _DLTensor.from_address(get(array.__dlpack__(), b"dltensor"))
    if tensor.device_type not in _ON_A_GPU:
        raise UsageError("an array is not on a CUDA device", "usage")
    shape = tensor.shape[:tensor.ndim]
    if tensor.strides and not _is_dense(shape, tensor.strides[:tensor.ndim], 1):
        raise UsageError("an array has gaps between its elements: make it contiguous", "usage")
    return tensor.data + tensor.byte_offset, _size(shape) * ((tensor.bits * tensor.lanes + 7) // 8)


def address_and_bytes(array: Any) -> tuple[int, int]:
    """Returns the device address of an array and its size in bytes; for an address (an int) the size is 0."""
    if isinstance(array, int):
        return array, 0
    # PyTorch's __cuda_array_interface__ raises an error for tensors on the host, and for tensors with a gradient.
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if not array.is_cuda:
            raise UsageError("a tensor is not on a CUDA device: move it by tensor.cuda()", "usage")
        if not array.is_contiguous():
            raise UsageError("a tensor has gaps between its elements: pass tensor.contiguous()", "usage")
        return array.data_ptr(), array.numel() * array.element_size()
    if hasattr(array, "__cuda_array_interface__"):
        return _from_interface(array)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array)
    raise UsageError(f"a {type(array).__name__} is not a device array: it has neither __cuda_array_interface__ nor "
                     "__dlpack__", "usage")


def current_stream(arrays: Sequence[Any]) -> int:
    """Returns the current stream of the arrays' package; 0 is the default stream."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    for array in arrays:
        if torch is not None and isinstance(array, torch.Tensor) and array.is_cuda:
            return int(torch.cuda.current_stream(array.device).cuda_stream)
        if cupy is not None and isinstance(array, cupy.ndarray):
            return int(cupy.cuda.get_current_stream().ptr)
    for array in arrays:
        facts = getattr(array, "__cuda_array_interface__", None) if not isinstance(array, int) else None
        if facts and facts.get("stream"):
            return int(facts["stream"])
    return 0


def make_context() -> bool:
    """Makes the CUDA context of PyTorch or CuPy current, if one of them is loaded. Returns False if neither is loaded, or
    if it has no GPU."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
        return True
    if cupy is not None and cupy.cuda.is_available():
        cupy.cuda.runtime.free(0)
        return True
    return False
