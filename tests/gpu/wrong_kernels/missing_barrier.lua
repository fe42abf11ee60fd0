-- Transposes whose threads do not wait until other threads have written the tile. Only fault = "none" is right.
local at = require "autotune"

return at.pattern {
  name = "wrong_missing_barrier",
  summary = "Transposes whose threads do not wait for each other's part of the tile",
  problem = { rows = 1024, cols = 1024 },
  ragged = { rows = 1003, cols = 517 },
  simulated = { rows = 64, cols = 64 },

  space = { fault = { "none", "no_barrier", "barrier_before_write" } },
  baseline = { fault = "none" },

  buffers = {
    src = at.input { dtype = "uint32", count = "rows * cols", shape = { "rows", "cols" } },
    dst = at.output { dtype = "uint32", count = "rows * cols", shape = { "cols", "rows" } },
  },
  kernel = { template = "missing_barrier.cu.tmpl", entry = "transpose", args = { "src", "dst" } },
  launch = { grid = { "ceil_div(cols, 32)", "ceil_div(rows, 32)" }, block = { 32, 8 } },
  traffic = "8 * rows * cols",
  reference = at.reference { template = "transpose_reference.cu.tmpl", args = { "src", "dst" } },
  tolerance = 0,
}
