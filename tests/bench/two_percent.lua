-- Two kernels that differ by a known 2 %: each block copies its part and waits until a number of cycles of its
-- multiprocessor have passed.
local at = require "autotune"

return at.pattern {
  name = "two_percent",
  summary = "A copy that takes 200,000 or 204,000 cycles",
  problem = { n = 1 << 14 },
  ragged = { n = 16381 },
  simulated = { n = 1 << 12 },

  space = { cycles = { 204000, 200000 } },
  baseline = { cycles = 204000 },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = {
    template = "two_percent.cu.tmpl",
    entry = "spin",
    args = { "src", "dst", at.uint64 "n", at.uint64 "cycles" },
  },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "copy_ref.cu.tmpl", args = { "src", "dst", at.uint64 "n" } },
  tolerance = 0,
}
