"""Measures how much a program slows down while autotune tunes on the same GPU. Needs CuPy and the Python module (PYTHONPATH,
AUTOTUNE_LIBRARY).

    tune_beside.py [share] [budget_s]

A program runs a kernel over and over, in steps of about a millisecond. At the same time `transpose` is tuned for sizes that
are not recorded. Prints the times of steps before and during the tuning, as quantiles and as throughput, and the pick before
and after it. Fails if the program loses more than twice the share of its throughput, or if the tuning does not
improve the pick.
"""
import statistics
import sys
import tempfile
import time

import autotune
import cupy


def steps(seconds, until=None):
    x = cupy.ones(1 << 24, cupy.float32)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end and not (until and until()):
        begun = time.perf_counter()
        for _ in range(20):
            cupy.multiply(x, 1.0001, out=x)
        cupy.cuda.get_current_stream().synchronize()
        times.append(time.perf_counter() - begun)
    return times


def tell(title, times):
    q = statistics.quantiles(times, n=100)
    print(f"{title}: {len(times)} steps, {len(times) / sum(times):.0f} a second; median {1e3 * q[49]:.3f} ms, 90 % {1e3 * q[89]:.3f}, "
          f"99 % {1e3 * q[98]:.3f}, slowest {1e3 * max(times):.1f}")
    return len(times) / sum(times)


def main():
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    budget_s = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    problem = {"rows": 5000, "cols": 3000, "dtype": "float"}
    steps(1)
    with tempfile.TemporaryDirectory() as folder:
        before = tell("before", steps(4))
        tuning = autotune.tune_beside("transpose", results=folder, budget_s=budget_s, share=share, **problem)
        state = ["running"]
        begun = time.perf_counter()

        def is_over():
            state[0] = tuning.wait()
            return state[0] not in ("running", "waiting")

        beside = tell(f"beside a tuning with a share of {share}", steps(3 * budget_s + 60, is_over))
        print(f"{state[0]} after {time.perf_counter() - begun:.1f} s {tuning.message}")
        if state[0] == "done":
            print("picked:", autotune.pick("transpose", results=folder, **problem))
        after = tell("after", steps(2))
    lost = 1 - beside / max(before, after)
    print(f"the program lost {100 * lost:.1f} % of its throughput meanwhile")
    return 0 if state[0] == "done" and lost <= 2 * share else 1


if __name__ == "__main__":
    sys.exit(main())
