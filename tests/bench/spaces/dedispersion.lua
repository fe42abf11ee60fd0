-- The search space of the dedispersion kernel of the FAIR benchmark hub (T1).
local at = require "autotune"

return at.pattern {
  name = "dedispersion",
  summary = "Search space of a dedispersion",
  problem = { n = 1024 },

  space = {
    block_size_x = at.pow2(1, 32),
    block_size_y = at.range(32, 256, 8),
    block_size_z = { 1 },
    tile_size_x = at.range(1, 4),
    tile_size_y = at.range(1, 8),
    tile_stride_x = { 0, 1 },
    tile_stride_y = { 0, 1 },
    loop_unroll_factor_channel = { 0 },
  },
  where = {
    "32 <= block_size_x * block_size_y and block_size_x * block_size_y <= 1024",
    "tile_size_x > 1 or tile_stride_x == 0",
    "tile_size_y > 1 or tile_stride_y == 0",
  },
  baseline = {
    block_size_x = 1, block_size_y = 32, tile_size_x = 1, tile_size_y = 1,
    tile_stride_x = 0, tile_stride_y = 0,
  },

  buffers = { out = at.output { dtype = "float", count = "n" } },
  kernel = { template = "spaces_only.cu.tmpl", entry = "nothing", args = { "out" } },
  launch = { grid = "1", block = "32" },
  traffic = "4",
}
