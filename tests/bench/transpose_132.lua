-- A transpose space of 132 configurations, small enough to measure completely; for comparisons with other tuners.
local at = require "autotune"

return at.pattern {
  name = "transpose_132",
  summary = "Transpose through a square tile: block, tile, vector width and padding",
  problem = { rows = 8192, cols = 8192, dtype = "float" },
  ragged = { rows = 204, cols = 308 },
  simulated = { rows = 512, cols = 512 },

  space = {
    block = at.pow2(64, 1024),
    tile = at.pow2(16, 128),
    vec = { 1, 2, 4 },
    pad = { 0, 1, 2, 4 },
  },
  where = {
    "block % (tile // vec) == 0",
    "block // (tile // vec) <= tile",
    "tile * (tile + pad) * sizeof(dtype) <= 48 * 1024",
  },
  baseline = { block = 256, tile = 32, vec = 1, pad = 0 },

  buffers = {
    src = at.input { dtype = "dtype", count = "rows * cols", shape = { "rows", "cols" } },
    dst = at.output { dtype = "dtype", count = "rows * cols", shape = { "cols", "rows" } },
  },
  kernel = { template = "transpose_132.cu.tmpl", entry = "transpose", args = { "src", "dst" } },
  launch = { grid = "ceil_div(cols, tile) * ceil_div(rows, tile)", block = "block" },
  traffic = "2 * rows * cols * sizeof(dtype)",
  reference = at.reference {
    template = "transpose_ref.cu.tmpl",
    args = { "src", "dst", at.uint64 "rows", at.uint64 "cols" },
  },
  tolerance = 0,
}
