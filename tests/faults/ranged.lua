-- A copy whose time depends on its configuration and its problem. Small problems need a = 2, large problems a = 9.
-- The best b is the largest vector that divides the columns.
local at = require "autotune"

return at.pattern {
  name = "ranged",
  summary = "A copy that takes as long as it is told, by its size",
  problem = { rows = at.within(64, 1, 200), cols = 64 },
  ragged = { rows = 7, cols = 13 },
  simulated = { rows = 8, cols = 8 },

  space = { a = at.range(1, 12), b = { 1, 2, 4 } },
  where = { "cols % b == 0" },
  baseline = { a = 5, b = 1 },

  buffers = {
    src = at.input { dtype = "float", count = "rows * cols" },
    dst = at.output { dtype = "float", count = "rows * cols" },
  },
  kernel = {
    template = "ranged.cu.tmpl",
    entry = "timed",
    args = { "src", "dst", at.uint64 "rows * cols",
             at.uint64 "20000 + 2000 * (4 // b) + 1000 * abs(a - (rows * cols < 4096 and 2 or 9))" },
  },
  launch = { grid = "ceil_div(rows * cols, 256)", block = 256 },
  traffic = "8 * rows * cols",
  reference = at.reference { template = "timed_ref.cu.tmpl", args = { "src", "dst", at.uint64 "rows * cols" } },
  tolerance = 0,
}
