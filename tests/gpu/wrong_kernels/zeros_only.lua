-- Copies that are right only for elements that are zero in the input. Only fault = "none" is right.
local at = require "autotune"

return at.pattern {
  name = "wrong_zeros_only",
  summary = "Copies that are right only where the input is zero",
  problem = { n = 1 << 20 },
  ragged = { n = 1000003 },
  simulated = { n = 1 << 12 },

  space = { fault = { "none", "doubled", "squared", "high_half_lost" } },
  baseline = { fault = "none" },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = { template = "zeros_only.cu.tmpl", entry = "copy", args = { "src", "dst" } },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "copy_reference.cu.tmpl", args = { "src", "dst" } },
  tolerance = 0,
}
