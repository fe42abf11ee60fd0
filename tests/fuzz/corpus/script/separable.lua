-- A separable convolution in two launches: along the rows into a scratch image, then along the
-- columns. Edges repeat.
local at = require "autotune"

return at.pattern {
  name = "separable",
  summary = "Separable convolution in two launches",
  problem = { rows = 2048, cols = 2048, radius = 2 },
  ragged = { rows = 67, cols = 101 },
  simulated = { rows = 128, cols = 192 },

  space = {
    block_x = at.pow2(32, 128),
    block_y = { 1, 2, 4 },
    -- What the second pass reads of a column: from memory, or from a tile in shared memory.
    columns = { "direct", "tile" },
    tile_y = at.when("columns == 'tile'", { 8, 16 }, 4),
  },
  derived = {
    taps = "2 * radius + 1",
    tile_bytes = "columns == 'tile' and 4 * block_x * (tile_y + 2 * radius) or 0",
  },
  where = { "block_x * block_y <= device.max_threads_per_block" },
  baseline = { block_y = 4 },

  buffers = {
    src = at.input { dtype = "float", count = "rows * cols", shape = { "rows", "cols" } },
    weights = at.input { dtype = "float", count = "taps",
                         fill = at.values { 0.0625, 0.25, 0.375, 0.25, 0.0625 } },
    between = at.scratch { dtype = "float", count = "rows * cols" },
    dst = at.output { dtype = "float", count = "rows * cols", shape = { "rows", "cols" } },
  },
  kernel = { template = "separable.cu.tmpl", constants = { taps = "weights" } },
  launches = {
    { entry = "along_rows", args = { "src", "between" },
      grid = { "ceil_div(cols, block_x)", "ceil_div(rows, block_y)" }, block = { "block_x", "block_y" } },
    { entry = "along_columns", args = { "between", "dst" }, shared = "tile_bytes",
      grid = { "ceil_div(cols, block_x)", "ceil_div(rows, tile_y)" }, block = { "block_x", "block_y" } },
  },
  traffic = "8 * rows * cols",
  reference = at.reference { template = "separable_ref.cu.tmpl", args = { "src", "weights", "dst" } },
  tolerance = 1e-6,
}
