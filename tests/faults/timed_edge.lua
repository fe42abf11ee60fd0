-- A copy that takes 20 us for a = 11 and b = 5, a microsecond more for every step away from it; where a
-- is 11 it leaves out the end of a problem that is no multiple of 32.
local at = require "autotune"

return at.pattern {
  name = "timed_edge",
  summary = "A copy that is wrong on the ragged problem where it is fastest",
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
    template = "timed_edge.cu.tmpl",
    entry = "timed_edge",
    args = { "src", "dst", at.uint64 "n", at.uint64 "20000 + 1000 * (abs(a - 11) + abs(b - 5))",
             at.uint64 "a == 11 and 1 or 0" },
  },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "timed_ref.cu.tmpl", args = { "src", "dst", at.uint64 "n" } },
  tolerance = 0,
}
