-- Copies that are right only if the output has the results of an earlier launch. Only fault = "none" is right.
local at = require "autotune"

return at.pattern {
  name = "wrong_stale_output",
  summary = "Copies that are right only on what an earlier launch left in the output",
  problem = { n = 1 << 20 },
  ragged = { n = 1000003 },
  simulated = { n = 1 << 12 },

  space = { fault = { "none", "never_writes", "skips_some", "adds_to_zero" } },
  baseline = { fault = "none" },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = { template = "stale_output.cu.tmpl", entry = "copy", args = { "src", "dst" } },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "copy_reference.cu.tmpl", args = { "src", "dst" } },
  tolerance = 0,
}
