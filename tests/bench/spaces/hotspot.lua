-- The search space of the hotspot kernel of the FAIR benchmark hub (T1).
local at = require "autotune"

return at.pattern {
  name = "hotspot",
  summary = "Search space of a stencil with temporal tiling",
  problem = { n = 1024 },

  space = {
    grid_width = { 4096 },
    grid_height = { 4096 },
    block_size_x = { 1, 2, 4, 8, 16, table.unpack(at.range(32, 1024, 32)) },
    block_size_y = at.pow2(1, 32),
    tile_size_x = at.range(1, 10),
    tile_size_y = at.range(1, 10),
    temporal_tiling_factor = at.range(1, 10),
    max_tfactor = { 10 },
    loop_unroll_factor_t = at.range(1, 10),
    sh_power = { 0, 1 },
  },
  where = {
    "block_size_x * block_size_y >= 32",
    "temporal_tiling_factor % loop_unroll_factor_t == 0",
    "block_size_x * block_size_y <= 1024",
    "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * "
      .. "(block_size_y * tile_size_y + temporal_tiling_factor * 2) * "
      .. "(2 + sh_power) * 4 <= 49152",
  },
  baseline = {
    block_size_x = 32, block_size_y = 1, tile_size_x = 1, tile_size_y = 1,
    temporal_tiling_factor = 1, loop_unroll_factor_t = 1, sh_power = 0,
  },

  buffers = { out = at.output { dtype = "float", count = "n" } },
  kernel = { template = "spaces_only.cu.tmpl", entry = "nothing", args = { "out" } },
  launch = { grid = "1", block = "32" },
  traffic = "4",
}
