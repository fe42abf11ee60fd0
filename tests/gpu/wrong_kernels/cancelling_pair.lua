-- Copies with two wrong elements, whose errors cancel in the sum of all elements. Only fault = "none" is right.
local at = require "autotune"

return at.pattern {
  name = "wrong_cancelling_pair",
  summary = "Copies with two wrong elements that cancel in a sum of all",
  problem = { n = 1 << 20 },
  ragged = { n = 1000003 },
  simulated = { n = 1 << 12 },

  space = { fault = { "none", "swapped", "plus_and_minus" } },
  baseline = { fault = "none" },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = { template = "cancelling_pair.cu.tmpl", entry = "copy", args = { "src", "dst" } },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "copy_reference.cu.tmpl", args = { "src", "dst" } },
  tolerance = 0,
}
