"""Times recorded kernels beside PyTorch, and prints lines in the form of harness.cu.

    torch_peers.py LIBAUTOTUNE RESULTS_FOLDER
"""
import ctypes
import random
import statistics
import sys

SAMPLES = 31
STARRED = {"loop_order"}  # targets that also hold for GPUs other than the H200


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_int), ("file", ctypes.c_char * 512),
                ("message", ctypes.c_char * 3072)]


class Variable(ctypes.Structure):
    """at_variable; kinds: 0 integer, 3 text."""
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("integer", ctypes.c_int64),
                ("number", ctypes.c_double), ("text", ctypes.c_char_p)]


def variable(name, value):
    if isinstance(value, int):
        return Variable(name.encode(), 0, value, 0.0, None)
    return Variable(name.encode(), 3, 0, 0.0, value.encode())


class Library:
    def __init__(self, path, results):
        self.lib = ctypes.CDLL(path)
        self.lib.at_kernel_buffer_name.restype = ctypes.c_char_p
        self.lib.at_rule_name.restype = ctypes.c_char_p
        self.lib.at_kernel_buffer_count.restype = ctypes.c_size_t
        self.results = self.make("at_open", results.encode())

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.lib, name)(*arguments, ctypes.byref(error)):
            raise RuntimeError(error.message.decode())

    def make(self, name, *arguments):
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out

    def kernel(self, pattern, problem, buffers, stream):
        """Returns a function that launches our kernel on the tensors `buffers` (name: tensor), and the rule that picked
        it."""
        variables = (Variable * len(problem))(*[variable(*item) for item in problem.items()])
        choice = self.make("at_pick", self.results, pattern.encode(), None, variables,
                           ctypes.c_size_t(len(problem)))
        kernel = self.make("at_prepare", choice, None)
        count = self.lib.at_kernel_buffer_count(kernel)
        names = [self.lib.at_kernel_buffer_name(kernel, ctypes.c_size_t(i)).decode() for i in range(count)]
        addresses = (ctypes.c_uint64 * count)(*[buffers[name].data_ptr() for name in names])
        rule = self.lib.at_rule_name(self.lib.at_kernel_rule(kernel)).decode()
        return (lambda: self.call("at_launch", kernel, ctypes.c_void_p(stream), addresses)), rule


def rows(torch):
    def batched_transpose():
        src = torch.rand(4096, 64, 64, device="cuda")
        dst = torch.empty_like(src)
        return dict(src=src, dst=dst), lambda: src.transpose(1, 2).contiguous(), dst, None

    def columns():
        src = torch.rand(16384, 16384, device="cuda") - 0.5
        dst = torch.empty(16384, device="cuda")
        return dict(src=src, dst=dst), lambda: src.sum(0), dst, None

    def planes():
        src = torch.randint(0, 256, (1 << 28, 3), dtype=torch.uint8, device="cuda")
        planes = torch.empty(3, 1 << 28, dtype=torch.uint8, device="cuda")
        buffers = dict(src=src, r=planes[0], g=planes[1], b=planes[2])
        return buffers, lambda: src.t().contiguous(), planes, None

    def filter3x3():
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        src = torch.rand(16384, 16384, device="cuda") - 0.5
        dst = torch.empty_like(src)
        weights = torch.arange(10, dtype=torch.float32, device="cuda")
        kernel = weights[1:].reshape(1, 1, 3, 3)
        image = src.view(1, 1, 16384, 16384)
        return (dict(src=src, dst=dst, weights=weights),
                lambda: torch.nn.functional.conv2d(image, kernel, padding=1), dst, None)

    gib = 16384 * 16384 * 4
    return [
        ("batched_transpose", dict(batch=4096, rows=64, cols=64, dtype="float"), "4096 x 64x64 floats",
         "PyTorch .contiguous()", 1.5, 0.90, 2 * 4096 * 64 * 64 * 4, "copy", batched_transpose),
        ("loop_order", dict(rows=16384, cols=16384, axis="columns", dtype="float"),
         "columns of 16384^2 floats", "PyTorch sum(0)", 1.0, 0, gib, None, columns),
        ("rgb", dict(n=1 << 28, layout="packed"), "2^28 pixels", "PyTorch .t().contiguous()", 1.2, 0.90,
         6 << 28, "copy", planes),
        ("conv2d", dict(rows=16384, cols=16384, size=3, dtype="float"), "16384^2 floats, 3x3",
         "PyTorch conv2d (cuDNN)", 1.5, 0.92, 2 * gib, "copy", filter3x3),
    ]


def run_row(torch, library, row):
    pattern, problem, _, _, least_ratio, least_share, size, ceiling, make = row
    asked = "H200" in torch.cuda.get_device_name() or pattern in STARRED
    stream = torch.cuda.current_stream()
    buffers, peer, ours_output, _ = make()
    launch, rule = library.kernel(pattern, problem, buffers, stream.cuda_stream)
    launch()
    expected = peer()
    torch.cuda.synchronize()
    expected = expected.reshape(ours_output.shape)
    if ours_output.is_floating_point():
        worst = (ours_output - expected).abs().max().item()
        if not worst <= 1e-4 * expected.abs().max().item():
            raise RuntimeError(f"its result is not ours (difference {worst})")
    elif not torch.equal(ours_output, expected):
        raise RuntimeError("its result is not ours")
    del expected
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    contenders = [launch, peer]
    if ceiling == "copy":
        left = torch.empty(size // 2, dtype=torch.uint8, device="cuda")
        right = torch.empty_like(left)
        contenders.append(lambda: right.copy_(left))
    times = [[] for _ in contenders]
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def sample(run):
        for _ in range(2):
            flush.add_(1)
            flush.max()
        start.record()
        run()
        stop.record()
        torch.cuda.synchronize()
        return 1e3 * start.elapsed_time(stop)

    for _ in range(100):
        sample(launch)
    order = list(range(len(contenders)))
    for _ in range(SAMPLES):
        random.shuffle(order)
        for i in order:
            times[i].append(sample(contenders[i]))
    medians = [statistics.median(t) for t in times]
    ratio = medians[1] / medians[0]
    line = f"{medians[0]:10.1f} {medians[1]:10.1f} {size / medians[0] * 1e-3:8.0f} GB/s    {ratio:7.3f}"
    line += f" {f'({least_ratio:.2f})' if asked else '':<7}"
    share = medians[2] / medians[0] if ceiling else 0
    line += f" {share:7.3f} {f'({least_share:.2f})' if asked else '':<7}" if ceiling else " " * 16
    verdict = "-" if not asked else "reached" if ratio >= least_ratio and share >= least_share else "below"
    note = "" if rule == "exact" else f"; not recorded for it: {rule}"
    print(f"{line} {verdict}{note}")


def main():
    try:
        import torch
        torch.zeros(1, device="cuda")
    except Exception as problem:
        print(f"{'PyTorch':<18} failed: {str(problem).splitlines()[0]}")
        return 1
    library = Library(sys.argv[1], sys.argv[2])
    random.seed(1)
    status = 0
    for row in rows(torch):
        print(f"{row[0] + ' *' * (row[0] in STARRED):<18} {row[2]:<22} {row[3]:<26} ", end="")
        try:
            run_row(torch, library, row)
        except Exception as problem:
            print(f"failed: {problem}")
            status = 1
        sys.stdout.flush()
        torch.cuda.empty_cache()
    return status


if __name__ == "__main__":
    sys.exit(main())
