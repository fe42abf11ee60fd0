"""autotune: tune GPU kernels, and use the results.

    import autotune
    run = autotune.tune("transpose.lua", rows=8192, cols=8192)     # measures, and records the fastest
    choice = autotune.pick("transpose", rows=8192, cols=8192, dtype="float")
    autotune.launch(choice, src, dst)                              # PyTorch, CuPy or other device arrays

    @autotune.site(block=[128, 256, 512])                          # tuned while the program works
    def scale(x, y, block): ...

Errors are autotune.Error, with `status`, `file` and `line`.
"""
from __future__ import annotations

import sys
from typing import Any, Callable, Generic, Iterable, TypeVar, Union

from ._library import (Error, InterruptedTuning, NoDeviceError, NotFoundError, NoToolchainError, ScriptError, UsageError)

__all__ = ["tune", "tune_beside", "pick", "prepare", "launch", "site", "Sites", "Site", "Run", "Tuning", "Choice", "Kernel", "InvalidConfiguration",
           "Error", "InterruptedTuning", "NoDeviceError", "NotFoundError", "NoToolchainError", "ScriptError", "UsageError",
           "Value", "version"]

Value = Union[int, float, bool, str]  # the value of a parameter or of a problem's variable
Result = TypeVar("Result")


def version() -> str:
    """Returns the version of the library, such as "0.1.0"."""
    from ._library import library
    return str(library().at_version(), "ascii")


def __getattr__(name: str) -> str:
    # The version is computed on demand, so that importing the module does not open the library.
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'autotune' has no attribute {name!r}")


# ---- tuning ----


class Run:
    """The result of a tuning. `values` is the fastest configuration, and `time_ns` its median time. On a simulated device
    `predicted` is true, and `time_ns` is the predicted time. `json` is the output of `autotune tune --json`, which
    share/autotune/schemas/commands/tune.json describes."""

    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json
        self.values: dict[str, Value] = json["best"]["config"]
        self.time_ns: int = json["best"]["time_ns"]
        self.verdict: str = json["verdict"]
        self.predicted: bool = json["device"]["kind"] == "sim"
        self.speedup: float | None = json["speedup"]

    def __repr__(self) -> str:
        return f"<autotune.Run {self.json['pattern']}: {self.values}, {self.time_ns} ns{' predicted' if self.predicted else ''}, " \
            f"{self.verdict}>"


STATUS_OF_EXIT = {2: "usage", 3: "no_device", 4: "io", 130: "interrupted"}


def _text(value: Value) -> str:
    from ._library import is_bool
    return str(bool(value)).lower() if is_bool(value) else str(value)


def tune(script: str, *, device: str | None = None, options: list[str] | tuple[str, ...] = (), **problem: Value) -> Run:
    """Tunes a script, a kernel file or an installed pattern for a problem, and records the result of a GPU.

    `device` is as on the command line ("cuda:0", "sim:sm_90"); `options` are further options of the command line
    (["--budget", "100"], ["--results", "folder"]). Returns when the tuning has ended.
    """
    import json
    import subprocess

    from ._library import environment, make_error, program
    words = [program(), "tune", script, "--json", "--quiet", *options]
    if device:
        words += ["--device", device]
    for name, value in problem.items():
        words += ["--set", f"{name}={_text(value)}"]
    done = subprocess.run(words, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace")
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = None
    if done.returncode or not found or not found.get("best"):
        import re
        said = done.stderr.strip().removeprefix("autotune: ")
        place = re.match(r"([^\s:]+):(\d+): ", said)
        status = "script" if place else STATUS_OF_EXIT.get(done.returncode, "not_found")
        # A missing device and a missing toolchain have the same exit code.
        if status == "no_device" and said.startswith("NVRTC"):
            status = "no_toolchain"
        raise make_error(said[place.end():] if place else said or "no variant worked", status,
                         place and place[1], place and int(place[2]))
    return Run(found)


# ---- picking ----


class _Results:
    def __init__(self, folder: str | None) -> None:
        import ctypes
        import os

        from ._library import call, library
        self.handle, self._close = ctypes.c_void_p(), library().at_close
        call("open", os.fsencode(folder) if folder else None, ctypes.byref(self.handle))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._close(self.handle)


_opened: dict[str | None, _Results] = {}


def _results(folder: str | None) -> _Results:
    if folder not in _opened:
        _opened[folder] = _Results(folder)
    return _opened[folder]


def _call_on_gpu(name: str, *arguments: Any) -> None:
    """Calls a function in the current CUDA context, or in a new one if there is none."""
    from ._library import call
    try:
        call(name, *arguments)
    except NoDeviceError:
        from ._arrays import make_context
        if not make_context():
            raise
        call(name, *arguments)


class Choice:
    """A configuration picked from records. `values` are its parameters. `rule` says how it was found: "exact", "portfolio",
    "nearest_problem", "same_capability", "same_major", "default" or "other_gpu". `checked` says whether the pattern's
    constraints are known to allow the configuration. `time_ns` is its median time, measured on `gpu`. The default
    has the time 0 and the GPU ""."""

    def __init__(self, results: _Results, handle: Any, pattern: str) -> None:
        from ._library import library, to_value
        lib = library()
        self._results, self._handle, self._free = results, handle, lib.at_choice_free
        self.pattern = pattern
        self.values: dict[str, Value] = {}
        for i in range(lib.at_choice_count(handle)):
            v = lib.at_choice_at(handle, i)
            self.values[v.name.decode()] = to_value(v)
        self.rule: str = lib.at_rule_name(lib.at_choice_rule(handle)).decode()
        self.checked = bool(lib.at_choice_checked(handle))
        self.gpu: str = lib.at_choice_gpu(handle).decode("utf-8", "replace")
        self.time_ns: int = lib.at_choice_time_ns(handle)
        self.text: str = lib.at_choice_text(handle).decode("utf-8", "replace")
        self._kernel: Kernel | None = None

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def __repr__(self) -> str:
        return f"<autotune.Choice {self.pattern}: {self.text} ({self.rule})>"

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._free(self._handle)


def pick(pattern: str, *, results: str | None = None, gpu: tuple[str, int, int] | None = None, **problem: Value) -> Choice:
    """Picks the recorded configuration of `pattern` that suits a problem and a GPU best.

    `results` is the folder of the records; None means $AUTOTUNE_RESULTS, ./results and the installed records. Records
    are read once. `gpu` is a tuple such as ("NVIDIA H200", 9, 0); None means the GPU of the current CUDA context.
    """
    import ctypes

    from ._library import CGpu, call, to_variables
    where, handle = _results(results), ctypes.c_void_p()
    device = CGpu(gpu[0].encode(), gpu[1], gpu[2]) if gpu else None
    arguments = where.handle, pattern.encode(), device, to_variables(problem), len(problem), ctypes.byref(handle)
    if device:
        call("pick", *arguments)
    else:
        _call_on_gpu("pick", *arguments)
    return Choice(where, handle, pattern)


class Tuning:
    """A tuning that runs beside the program. `wait(seconds)` returns its state: "running", "waiting" (another process
    tunes the same problem), "done" or "failed". If the tuning failed, `message` says why."""

    STATES = ("none", "running", "waiting", "done", "failed")

    def __init__(self, results: _Results, pattern: str, problem: dict[str, Value]) -> None:
        self._results, self.pattern, self._problem, self.message = results, pattern, problem, ""

    def wait(self, seconds: float = 0) -> str:
        """Waits at most `seconds` for the end of the tuning, and returns its state."""
        import ctypes

        from ._library import call, to_variables
        state = ctypes.c_int()
        self.message = call("tune_wait", self._results.handle, self.pattern.encode(), to_variables(self._problem),
                            len(self._problem), int(seconds * 1e9), ctypes.byref(state))
        return self.STATES[state.value]


def tune_beside(pattern: str, *, results: str | None = None, budget_s: float = 60, share: float = 0.1,
                script: str | None = None, **problem: Value) -> Tuning:
    """Tunes a problem in a process of its own, on the GPU of the current CUDA context, and returns at once. The first pick()
    after the end uses the result. Does nothing if the problem is recorded or being tuned.

    The tuning takes `budget_s` seconds, proofs included, and at most the `share` of the GPU's time. `script` is the path of
    the pattern, if it is not installed.
    """
    import os

    from ._library import CTuneOptions, program, to_variables
    where = _results(results)
    options = CTuneOptions(budget_s, share, os.fsencode(script) if script else None, os.fsencode(program()))
    _call_on_gpu("tune", where.handle, pattern.encode(), to_variables(problem), len(problem), options)
    return Tuning(where, pattern, problem)


# ---- launching ----


class Kernel:
    """The kernel of a choice, compiled and loaded into the current CUDA context. kernel(src, dst) launches it. `buffers`
    has the names of its arrays, in their order."""

    def __init__(self, choice: Choice, script: str | None = None, includes: tuple[str, ...] | list[str] = ()) -> None:
        import ctypes
        import os

        from ._library import CKernelOptions, call, library
        lib = library()
        self._choice, self._handle, self._lib = choice, ctypes.c_void_p(), lib
        folders = (ctypes.c_char_p * len(includes))(*(os.fsencode(folder) for folder in includes))
        options = CKernelOptions(os.fsencode(script) if script else None, None, None, 0, folders, len(includes))
        call("prepare", choice._handle, options, ctypes.byref(self._handle))
        count = lib.at_kernel_buffer_count(self._handle)
        self.buffers: list[str] = [lib.at_kernel_buffer_name(self._handle, i).decode() for i in range(count)]
        self.sizes_bytes: list[int] = [lib.at_kernel_buffer_bytes(self._handle, i) for i in range(count)]
        self.text: str = lib.at_kernel_text(self._handle).decode()
        self._type = ctypes.c_uint64 * max(count, 1)

    @property
    def source(self) -> str:
        """The kernel's CUDA C++."""
        text: bytes = self._lib.at_kernel_source(self._handle)
        return text.decode("utf-8", "replace")

    def __call__(self, *arrays: Any, stream: int | None = None) -> None:
        """Launches the kernel on device arrays, one per buffer, in the current stream of their package. Returns at once."""
        from ._arrays import address_and_bytes, current_stream
        from ._library import call
        if len(arrays) != len(self.buffers):
            raise UsageError(f"the kernel of {self._choice.pattern} takes {len(self.buffers)} arrays ({', '.join(self.buffers)}), not "
                             f"{len(arrays)}", "usage")
        addresses = self._type()
        for i, array in enumerate(arrays):
            address, size_bytes = address_and_bytes(array)
            if not isinstance(array, int) and size_bytes != self.sizes_bytes[i]:
                raise UsageError(f"the array {self.buffers[i]} has {size_bytes} bytes, but this problem needs {self.sizes_bytes[i]}", "usage")
            addresses[i] = address
        call("launch", self._handle, current_stream(arrays) if stream is None else stream, addresses)

    def __del__(self) -> None:
        # While the interpreter ends, the CUDA context may be destroyed already: then the kernel cannot be freed.
        if getattr(self, "_handle", None) and sys is not None and not sys.is_finalizing():
            self._lib.at_kernel_free(self._handle)


def prepare(choice: Choice, *, script: str | None = None, includes: tuple[str, ...] | list[str] = ()) -> Kernel:
    """Compiles and loads the kernel of a choice. `script` is the path of the pattern, if it is not installed; `includes`
    are further folders of headers."""
    return Kernel(choice, script, includes)


def launch(choice: Choice, *arrays: Any, stream: int | None = None) -> None:
    """Launches a choice on device arrays. The first launch compiles the kernel, or reads it from the cache."""
    if choice._kernel is None:
        choice._kernel = prepare(choice)
    choice._kernel(*arrays, stream=stream)


# ---- sites ----


class InvalidConfiguration(Exception):
    """The function of a site raises this exception if it cannot use its values. The site does not use these values
    again."""


class Sites:
    """The tuning sites of a program, and the store of their decisions. Tuning may cost `share` of the time of a site's
    calls. `code` is the version of the program's code: new code does not use decisions of another version. `clock` is
    "auto", "events" (of CUDA) or "host"."""

    CLOCKS = {"auto": 0, "events": 1, "host": 2}

    def __init__(self, folder: str | None = None, *, code: str = "", share: float = 0.02, clock: str = "auto") -> None:
        import ctypes
        import os

        from ._library import CSitesOptions, call, library
        if clock not in self.CLOCKS:
            raise UsageError(f"clock is '{clock}', but must be one of: {', '.join(self.CLOCKS)}", "usage")
        self._lib, self._handle = library(), ctypes.c_void_p()
        options = CSitesOptions(os.fsencode(folder) if folder else None, code.encode(), share, self.CLOCKS[clock], None, None, 0)
        call("sites_open", options, ctypes.byref(self._handle))

    def problems(self) -> list[str]:
        """Returns messages about problems so far, such as a stored entry of another driver."""
        out: list[str] = []
        while text := self._lib.at_sites_problem(self._handle, len(out)):
            out.append(text.decode("utf-8", "replace"))
        return out

    def close(self) -> None:
        """Writes the decisions and closes the sites. No call of a site may be in progress."""
        if self._handle:
            self._lib.at_sites_close(self._handle)
            self._handle.value = None

    def __enter__(self) -> "Sites":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_sites: Sites | None = None


def _default_sites() -> Sites:
    global _sites
    if _sites is None:
        import atexit
        _sites = Sites()
        atexit.register(_sites.close)
    return _sites


class Site(Generic[Result]):
    """A function or method with tuned keyword arguments: see site()."""

    STATES = "tuning", "decided", "recalled", "frozen", "off"

    def __init__(self, function: Callable[..., Result], parameters: dict[str, Iterable[Value]], name: str,
                 key: Callable[..., dict[str, Value]] | None, sites: Sites | None) -> None:
        import functools
        functools.update_wrapper(self, function)
        self._function, self._parameters, self._name, self._key, self._sites = function, parameters, name, key, sites
        self._handles: dict[Any, Any] = {}
        self._c_parameters: Any = None
        self._keep: list[Any] = []

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        from types import MethodType
        return MethodType(self, instance)

    def _declare(self) -> None:
        import ctypes

        from ._library import CParameter, INTEGER, NUMBER, TEXT
        out, keep = (CParameter * len(self._parameters))(), list[Any]()
        for p, (name, values) in zip(out, self._parameters.items()):
            all_values: list[Any] = list(values)
            p.name, p.count = name.encode(), len(all_values)
            array: Any
            if all_values and all(isinstance(v, str) for v in all_values):
                array, p.kind = (ctypes.c_char_p * len(all_values))(*(v.encode() for v in all_values)), TEXT
                p.texts = array
            elif all(hasattr(v, "__index__") for v in all_values):
                array, p.kind = (ctypes.c_int64 * len(all_values))(*all_values), INTEGER
                p.integers = array
            else:
                array, p.kind = (ctypes.c_double * len(all_values))(*all_values), NUMBER
                p.numbers = array
            keep.append(array)
        self._c_parameters, self._keep = out, keep

    def _open(self, problem: dict[str, Value]) -> tuple[Any, dict[int, dict[str, Value]]]:
        import ctypes

        from ._library import call, to_variables
        if self._c_parameters is None:
            self._declare()
        if self._sites is None:
            self._sites = _default_sites()
        handle = ctypes.c_void_p()
        call("site_open", self._sites._handle, self._name.encode(), to_variables(problem), len(problem), self._c_parameters,
             len(self._parameters), ctypes.byref(handle))
        return handle, {}

    def _of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[int, dict[str, Value]]]:
        problem = self._key(*args, **kwargs) if self._key else {}
        key = tuple(problem.items())
        if key not in self._handles:
            self._handles[key] = self._open(problem)
        handle, known = self._handles[key]
        return handle, known

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        from ctypes import byref

        from ._arrays import current_stream
        from ._library import CValues, call, to_value
        handle, known = self._of(args, kwargs)
        stream, values = current_stream(args), CValues()
        while True:
            call("site_begin", handle, stream, byref(values))
            chosen = known.get(values.configuration)
            if chosen is None:
                items = values.items[:values.count]
                chosen = known[values.configuration] = {v.name.decode(): to_value(v) for v in items}
            try:
                out = self._function(*args, **kwargs, **chosen)
            except InvalidConfiguration:
                call("site_invalid", handle, byref(values))
                continue
            except BaseException:
                call("site_end", handle, stream, byref(values))
                raise
            call("site_end", handle, stream, byref(values))
            return out

    def report(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Reports on the site of these arguments: state, values, calls, trials, seen_ns, spent_ns."""
        from ctypes import byref

        from ._library import CReport, call, to_value
        handle, _ = self._of(args, kwargs)
        r = CReport()
        call("site_get", handle, byref(r))
        return {"state": self.STATES[r.state], "calls": r.calls, "trials": r.trials, "seen_ns": r.seen_ns,
                "spent_ns": r.spent_ns, "values": {v.name.decode(): to_value(v) for v in r.values.items[:r.values.count]}}

    def freeze(self, *args: Any, **kwargs: Any) -> None:
        """Ends tuning for these arguments."""
        from ._library import call
        call("site_freeze", self._of(args, kwargs)[0])


def site(*, key: Callable[..., dict[str, Value]] | None = None, name: str | None = None, sites: Sites | None = None,
         **parameters: Iterable[Value]) -> Callable[[Callable[..., Result]], Site[Result]]:
    """Tunes a function while the program runs: each call gets one value of each parameter, as keyword arguments. The first
    value of a parameter is its default.

        @autotune.site(key=lambda x, y: {"n": x.numel()}, block=[128, 256, 512])
        def scale(x, y, block): ...

    `key` computes the problem, on which the fastest values depend, from the function's arguments. Only times are compared:
    all values must compute the same result. Calls with arrays of PyTorch or CuPy are timed in their current stream. The
    function raises InvalidConfiguration for values that it cannot use.
    """
    if not parameters:
        raise UsageError("a site needs at least one parameter, for example site(block=[128, 256])", "usage")

    def decorate(function: Callable[..., Result]) -> Site[Result]:
        return Site(function, parameters, name or function.__name__.strip("_"), key, sites)
    return decorate
