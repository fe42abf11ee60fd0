"""The recorded vector_add on PyTorch's tensors, in its current stream; and a site that chooses while the program works."""
import autotune

try:
    import torch
    has_gpu = torch.cuda.is_available()
except ImportError:
    has_gpu = False

problem = {"n": 1 << 24, "dtype": "float"}
choice = autotune.pick("vector_add", gpu=None if has_gpu else ("NVIDIA H200", 9, 0), **problem)
print(choice)
if has_gpu:
    a, b = (torch.rand(problem["n"], device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    autotune.launch(choice, a, b, c)
    print("right" if torch.equal(c, a + b) else "wrong")


@autotune.site(key=lambda values: {"n": len(values)}, step=[1, 64])
def total(values, step):
    return sum(sum(values[i:i + step]) for i in range(0, len(values), step))


numbers = list(range(4096))
for _ in range(3000):
    assert total(numbers) == 4096 * 4095 // 2
print(total.report(numbers)["values"])
