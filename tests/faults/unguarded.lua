-- Variants without a guard are the fastest. The fake driver does not execute this code, so it finds no fault.
local at = require "autotune"

return at.pattern {
  name = "unguarded",
  summary = "A copy whose fastest variants write past the end",
  problem = { n = 4003 },
  ragged = { n = 4093 },
  simulated = { n = 1 << 10 },

  space = { guarded = { true, false }, a = at.range(1, 4) },
  baseline = { guarded = true, a = 4 },

  buffers = {
    src = at.input { dtype = "float", count = "n" },
    dst = at.output { dtype = "float", count = "n" },
  },
  kernel = {
    template = "unguarded.cu.tmpl",
    entry = "timed",
    args = { "src", "dst", at.uint64 "n", at.uint64 "20000 + 2000 * a + (guarded and 10000 or 0)" },
  },
  launch = { grid = "ceil_div(n, 256)", block = 256 },
  traffic = "8 * n",
  reference = at.reference { template = "timed_ref.cu.tmpl", args = { "src", "dst", at.uint64 "n" } },
  tolerance = 0,
}
