-- Copies that also write outside their output. Only fault = "none" is right.
local at = require "autotune"

return at.pattern {
  name = "wrong_write_outside",
  summary = "Copies that also write outside their output",
  problem = { n = 1 << 20 },
  ragged = { n = 1000003 },
  simulated = { n = 1 << 12 },

  space = { fault = { "none", "one_past", "one_before", "far_past" } },
  baseline = { fault = "none" },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = { template = "write_outside.cu.tmpl", entry = "copy", args = { "src", "dst" } },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "copy_reference.cu.tmpl", args = { "src", "dst" } },
  tolerance = 0,
}
