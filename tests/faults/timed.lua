-- A copy whose time depends on its configuration: 20 us for a = 11 and b = 5, plus 1 us for each step away from
-- these values.
local at = require "autotune"

return at.pattern {
  name = "timed",
  summary = "A copy that takes as long as it is told",
  problem = { n = 1 << 12 },
  ragged = { n = 4093 },
  simulated = { n = 1 << 10 },

  space = { a = at.range(1, 60), b = at.range(1, 50) },
  baseline = { a = 60, b = 50 },

  buffers = {
    src = at.input { dtype = "float", count = "n" },
    dst = at.output { dtype = "float", count = "n" },
  },
  kernel = {
    template = "timed.cu.tmpl",
    entry = "timed",
    args = { "src", "dst", at.uint64 "n", at.uint64 "20000 + 1000 * (abs(a - 11) + abs(b - 5))" },
  },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "timed_ref.cu.tmpl", args = { "src", "dst", at.uint64 "n" } },
  tolerance = 0,
}
