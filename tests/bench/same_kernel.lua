-- One kernel eight times. The variants differ in a number that the kernel never uses, so a race must end tied.
local at = require "autotune"

return at.pattern {
  name = "same_kernel",
  summary = "One copy kernel, listed eight times",
  problem = { n = 1 << 26 },
  ragged = { n = 1000003 },
  simulated = { n = 1 << 14 },

  space = { alias = at.range(1, 8) },
  baseline = { alias = 1 },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = { template = "same_kernel.cu.tmpl", entry = "copy", args = { "src", "dst", at.uint64 "n" } },
  launch = { grid = "ceil_div(n, 4 * 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "copy_ref.cu.tmpl", args = { "src", "dst", at.uint64 "n" } },
  tolerance = 0,
}
