"""Uses the Python module from a wheel: tunes, picks, launches, and tunes a site. FAKE_CUDA is the fake driver."""
import ctypes
import inspect
import os
import subprocess
import sys
import tempfile
import time
import unittest

os.environ["AUTOTUNE_LIBCUDA"] = os.environ["FAKE_CUDA"]
import autotune  # after setting the fake driver

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDS = os.path.join(HERE, "..", "..", "results")
TIMED = os.path.join(HERE, "..", "faults", "timed.lua")
H200 = "NVIDIA H200", 9, 0


class Array:
    """A device array that belongs to no package."""

    def __init__(self, address, count, strides=None):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "<f4", "data": (address, False), "strides": strides,
                                         "version": 3}


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def context(self):
        cuda, device, context = ctypes.CDLL(os.environ["FAKE_CUDA"]), ctypes.c_int(), ctypes.c_void_p()
        self.assertEqual(cuda.cuInit(0), 0)
        self.assertEqual(cuda.cuDeviceGet(ctypes.byref(device), 0), 0)
        self.assertEqual(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), 0)
        self.assertEqual(cuda.cuCtxSetCurrent(context), 0)
        return cuda

    def allocate(self, cuda, size_bytes):
        address = ctypes.c_uint64()
        self.assertEqual(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size_bytes)), 0)
        return address.value

    def test_the_module_the_library_and_the_command_have_one_version(self):
        said = subprocess.run([os.path.join(os.path.dirname(sys.executable), "autotune"), "--version"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        self.assertTrue(said.startswith(f"autotune {autotune.version()}\n"), said)
        self.assertEqual(autotune.__version__, autotune.version())

    def test_a_recorded_configuration_is_picked(self):
        choice = autotune.pick("transpose", results=RECORDS, gpu=H200, rows=8192, cols=8192, dtype="float")
        self.assertEqual(choice.rule, "exact")
        self.assertGreater(choice.time_ns, 0)
        self.assertEqual(choice["tile_x"], choice.values["tile_x"])

    def test_what_is_not_recorded_is_an_exception(self):
        with self.assertRaises(autotune.NotFoundError) as caught:
            autotune.pick("no_such_pattern", results=RECORDS, gpu=H200)
        self.assertEqual(caught.exception.status, "not_found")

    def test_a_script_that_is_wrong_is_told_with_its_line(self):
        path = os.path.join(self.folder.name, "wrong.lua")
        with open(path, "w") as script:
            script.write("\nreturn 5 +\n")
        with self.assertRaises(autotune.ScriptError) as caught:
            autotune.tune(path, device="sim:sm_90")
        self.assertEqual((os.path.basename(caught.exception.file), caught.exception.line), ("wrong.lua", 3))

    def test_without_nvrtc_it_is_the_toolchain_that_is_missing(self):
        before = os.environ.get("AUTOTUNE_NVRTC")
        os.environ["AUTOTUNE_NVRTC"] = "/nowhere/libnvrtc.so"
        try:
            with self.assertRaises(autotune.NoToolchainError):
                autotune.tune("vector_add", device="sim:sm_90", options=["--budget", "2", "--no-record"], n=4096)
        finally:
            del os.environ["AUTOTUNE_NVRTC"]
            if before:
                os.environ["AUTOTUNE_NVRTC"] = before

    def test_a_tuning_gives_its_fastest_configuration(self):
        run = autotune.tune("vector_add", device="sim:sm_90", options=["--budget", "2", "--no-record"], n=4096)
        self.assertTrue(run.predicted)
        self.assertIn(" ns predicted, ", repr(run))
        self.assertIn("block", run.values)
        self.assertEqual(run.json["problem"]["n"], 4096)

    def test_a_choice_is_launched_on_device_arrays(self):
        cuda = self.context()
        run = autotune.tune(TIMED, device="cuda:0", options=["--results", self.folder.name, "--budget", "2"])
        choice = autotune.pick("timed", results=self.folder.name, **run.json["problem"])
        self.assertEqual(choice.rule, "exact")
        choice._kernel = kernel = autotune.prepare(choice, script=TIMED)
        arrays = [Array(self.allocate(cuda, n), n // 4) for n in kernel.sizes_bytes]
        stream = ctypes.c_void_p()
        self.assertEqual(cuda.cuStreamCreate(ctypes.byref(stream), 0), 0)
        autotune.launch(choice, *arrays, stream=stream.value)
        with self.assertRaisesRegex(autotune.UsageError, "takes"):
            autotune.launch(choice, arrays[0])
        with self.assertRaisesRegex(autotune.UsageError, "has 64 bytes"):
            autotune.launch(choice, Array(4096, 16), *arrays[1:])
        with self.assertRaisesRegex(autotune.UsageError, "gaps"):
            autotune.launch(choice, Array(4096, kernel.sizes_bytes[0] // 4, strides=(8,)), *arrays[1:])
        with self.assertRaisesRegex(autotune.UsageError, "is not a device array"):
            autotune.launch(choice, b"", *arrays[1:])

    def test_a_problem_is_tuned_beside_the_program(self):
        self.context()
        run = autotune.tune(TIMED, device="cuda:0", options=["--results", self.folder.name, "--budget", "2"])
        other = {**run.json["problem"], "n": run.json["problem"]["n"] // 2}
        self.assertEqual(autotune.pick("timed", results=self.folder.name, **other).rule, "nearest_problem")
        tuning = autotune.tune_beside("timed", results=self.folder.name, script=TIMED, budget_s=1, share=0.5, **other)
        self.assertEqual((tuning.wait(60), tuning.message), ("done", ""))
        self.assertEqual(autotune.pick("timed", results=self.folder.name, **other).rule, "exact")

    def test_a_site_is_decided_while_the_program_works_and_recalled_by_the_next(self):
        def open_site():
            sites = autotune.Sites(self.folder.name, clock="host", code="1", share=0.5)

            @autotune.site(key=lambda n: {"n": n}, sites=sites, wait=[20, 1])
            def work(n, wait):
                end = time.perf_counter_ns() + 10000 * wait
                while time.perf_counter_ns() < end:
                    pass
                return n
            return sites, work
        sites, work = open_site()
        with sites:
            for _ in range(20000):
                self.assertEqual(work(7), 7)
                if work.report(7)["state"] == "decided":
                    break
            self.assertEqual((work.report(7)["state"], work.report(7)["values"]), ("decided", {"wait": 1}))
        sites, work = open_site()
        with sites:
            work(7)
            self.assertEqual((work.report(7)["state"], work.report(7)["values"]), ("recalled", {"wait": 1}))

    def test_values_that_a_function_refuses_are_not_given_again(self):
        seen = []
        with autotune.Sites(self.folder.name, clock="host") as sites:
            @autotune.site(sites=sites, block=[64, 128])
            def work(block):
                seen.append(block)
                if block == 64:
                    raise autotune.InvalidConfiguration
                return block
            self.assertEqual([work(), work()], [128, 128])
        self.assertEqual(seen.count(64), 1)

    def test_a_method_is_a_site_of_its_class(self):
        with autotune.Sites(self.folder.name, clock="host") as sites:
            class Layer:
                @autotune.site(sites=sites, block=[64, 128])
                def forward(self, x, block):
                    return self, x, block
            one = Layer()
            self.assertEqual(one.forward(3), (one, 3, 64))

    def test_a_bool_of_another_package_is_a_bool(self):
        of_numpy = type("bool_", (), {"__bool__": lambda self: True, "__index__": lambda self: 1})()
        self.assertEqual(autotune._text(of_numpy), "true")
        v = autotune._library.to_variables({"on": of_numpy})[0]
        self.assertEqual((v.kind, v.integer), (autotune._library.BOOLEAN, 1))

    def test_all_that_is_public_is_typed_and_described(self):
        def functions():
            for name in autotune.__all__:
                what = getattr(autotune, name)
                if inspect.isfunction(what):
                    yield name, what
                elif inspect.isclass(what):
                    self.assertTrue(inspect.getdoc(what), f"{name} has no docstring")
                    for member, function in inspect.getmembers(what, inspect.isfunction):
                        if function.__module__.startswith("autotune") and (member == "__init__" or not member.startswith("_")):
                            yield f"{name}.{member}", function
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(autotune.__file__), "py.typed")))
        for name, function in functions():
            self.assertTrue(name.endswith("__init__") or inspect.getdoc(function), f"{name} has no docstring")
            signature = inspect.signature(function)
            types = [p.annotation for p in signature.parameters.values() if p.name != "self"] + [signature.return_annotation]
            self.assertNotIn(inspect.Signature.empty, types, f"{name} leaves a type out")

    def test_importing_the_module_loads_neither_the_library_nor_json(self):
        said = subprocess.run([sys.executable, "-c", "import sys, autotune; print('json' in sys.modules, "
                               "autotune._library._lib)"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(said, "False None\n")


if __name__ == "__main__":
    unittest.main()
