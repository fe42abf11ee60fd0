-- A kernel whose best variant depends on the kernel before it. Reading the table is fast only if the table is in L2.
-- Computing the series always takes the same time.
local at = require "autotune"

return at.pattern {
  name = "windowed",
  problem = { n = 1 << 21, terms = 64 },
  ragged = { n = 100003 },
  space = { from = { "table", "series" }, block = { 128, 256, 512, 1024 }, items = { 1, 2, 4 } },
  baseline = { block = 256 },
  buffers = {
    x = at.input { dtype = "float", count = "n" },
    weights = at.input { dtype = "float", count = "n" },
    y = at.output { dtype = "float", count = "n", tolerance = 1e-4 },
  },
  prepare = at.kernel { template = "windowed_table.cu.tmpl", args = { "weights" }, grid = "ceil_div(n, 256)", block = 256 },
  kernel = { template = "windowed.cu.tmpl", args = { "x", "weights", "y" } },
  launch = { grid = "ceil_div(n, block * items)", block = "block" },
  traffic = "8 * n",
  reference = at.reference { template = "windowed_ref.cu.tmpl" },
}
