-- The search space of the convolution kernel of the FAIR benchmark hub (T1).
local at = require "autotune"

return at.pattern {
  name = "convolution",
  summary = "Search space of a 2D convolution",
  problem = { n = 1024 },

  space = {
    block_size_x = at.range(16, 256, 16),
    block_size_y = { 1, 2, 4, 8, 16 },
    tile_size_x = { 1, 2, 3, 4 },
    tile_size_y = { 1, 2, 3, 4 },
    read_only = { 0, 1 },
    use_padding = { 0, 1 },
    use_shmem = { 0, 1 },
    use_cmem = { 1 },
    filter_height = { 15 },
    filter_width = { 15 },
  },
  where = {
    "use_padding == 0 or block_size_x % 32 ~= 0",
    "block_size_x * block_size_y <= 1024",
    "use_padding == 0 or use_shmem ~= 0",
    "use_shmem == 0 or (block_size_x * tile_size_x + (filter_width - 1)) * "
      .. "(block_size_y * tile_size_y + (filter_height - 1)) < 12 * 1024",
  },
  baseline = {
    block_size_x = 16, block_size_y = 1, tile_size_x = 1, tile_size_y = 1,
    read_only = 0, use_padding = 0, use_shmem = 0,
  },

  buffers = { out = at.output { dtype = "float", count = "n" } },
  kernel = { template = "spaces_only.cu.tmpl", entry = "nothing", args = { "out" } },
  launch = { grid = "1", block = "32" },
  traffic = "4",
}
