"""A pipeline of three kernels in which the isolated winner is not the winner in context; on a GPU, with CuPy.

    pipeline.py BUILD [terms ...]

`windowed` is tuned alone (with a cold cache) and after `prepare`, which writes its inputs. Then the pipeline
prepare, windowed, sum runs with either winner, in alternating blocks. Prints the time of the whole pipeline and of
windowed within it. Fails if for every number of terms both winners are equal, or the winner in context is not faster
in the pipeline, beyond the 95 % interval of the ratio.
"""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
N, BLOCKS, RUNS = 1 << 21, 41, 50
SUM = r"""
extern "C" __global__ void sum(const float *y, float *sums, int n)
{
    float total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        total += y[i];
    for (int k = 16; k > 0; k /= 2)
        total += __shfl_down_sync(0xffffffffu, total, k);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sums[blockIdx.x % 32], total);
}
"""


def tool(build, *words):
    done = subprocess.run([os.path.join(build, "bin", "autotune"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, cwd=HERE)
    if done.returncode:
        sys.exit(f"autotune {' '.join(words)}: {done.stderr}")
    return done.stdout


def tune(build, terms, *more):
    found = json.loads(tool(build, "tune", "windowed.lua", "--set", f"terms={terms}", "--json", "--quiet", "--no-record",
                            "--strategy", "exhaustive", *more))
    return found["best"]["config"], found["best"]["time_ns"]


def text_of(config):
    return ",".join(f"{name}={value}" for name, value in config.items())


class Pipeline:
    def __init__(self, build, terms):
        import cupy
        self.cupy = cupy
        source = tool(build, "emit", "prepare.lua", "--set", f"terms={terms}", "--arch", "sm_90", "--no-line")
        self.prepare = cupy.RawModule(code=source).get_function("prepare")
        self.sum = cupy.RawModule(code=SUM).get_function("sum")
        self.raw = cupy.arange(N, dtype=cupy.int32).astype(cupy.int16)
        self.x, self.table, self.y = (cupy.zeros(N, cupy.float32) for _ in range(3))
        self.sums = cupy.zeros(32, cupy.float32)
        self.build, self.terms, self.kernels = build, terms, {}

    def kernel(self, config):
        text = text_of(config)
        if text not in self.kernels:
            source = tool(self.build, "emit", "windowed.lua", "--set", f"terms={self.terms}", "--config", text, "--arch", "sm_90",
                          "--no-line")
            self.kernels[text] = self.cupy.RawModule(code=source).get_function("windowed")
        return self.kernels[text]

    def run(self, config, start=None, stop=None):
        self.prepare(((N + 255) // 256,), (256,), (self.raw, self.x, self.table))
        per_block = config["block"] * config["items"]
        if start:
            start.record()
        self.kernel(config)(((N + per_block - 1) // per_block,), (config["block"],), (self.x, self.table, self.y))
        if stop:
            stop.record()
        self.sum((264,), (512,), (self.y, self.sums, self.cupy.int32(N)))

    def time(self, config, within):
        """Returns microseconds of a run of the pipeline, or of the kernel within it."""
        events = [(self.cupy.cuda.Event(), self.cupy.cuda.Event()) for _ in range(RUNS)]
        first, last = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        first.record()
        for start, stop in events:
            self.run(config, *((start, stop) if within else ()))
        last.record()
        last.synchronize()
        elapsed = self.cupy.cuda.get_elapsed_time
        return 1e3 * (statistics.median(elapsed(a, b) for a, b in events) if within else elapsed(first, last) / RUNS)


def compare(pipeline, isolated, context, within):
    """Returns the medians of both winners' times, and the interval of the ratio's median over blocks (order statistics, 95 %)."""
    times = {True: [], False: []}
    for block in range(-2, BLOCKS):
        for is_context in ((True, False) if block % 2 else (False, True)):
            one = pipeline.time(context if is_context else isolated, within)
            if block >= 0:
                times[is_context].append(one)
    ratios = sorted(a / b for a, b in zip(times[True], times[False]))
    low, high = ratios[BLOCKS // 2 - 7], ratios[BLOCKS // 2 + 7]
    return statistics.median(times[False]), statistics.median(times[True]), low, high


def main():
    build = os.path.abspath(sys.argv[1])
    shown = 0
    for terms in [int(t) for t in sys.argv[2:]] or [32, 48, 64, 96, 128, 192]:
        isolated, isolated_ns = tune(build, terms)
        context, context_ns = tune(build, terms, "--after", "prepare.lua")
        print(f"{terms} terms: alone {text_of(isolated)} ({isolated_ns / 1e3:.2f} us), after prepare {text_of(context)} "
              f"({context_ns / 1e3:.2f} us)")
        if isolated == context:
            continue
        pipeline = Pipeline(build, terms)
        for within in (True, False):
            a, b, low, high = compare(pipeline, isolated, context, within)
            print(f"  {'the kernel in the pipeline' if within else 'a run of the pipeline'}: {a:.2f} us with the one, {b:.2f} us "
                  f"with the other; {low:.3f} to {high:.3f} of it")
            shown += within and high < 1 and isolated["from"] != context["from"]
    print("shown" if shown else "NOT SHOWN", "for", shown, "of them")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
