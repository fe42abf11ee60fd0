-- c = a * b of square matrices, by tiles in shared memory: a space limited by arithmetic, occupancy
-- and registers, for setting the constants of the search strategies (see landscapes.sh).
local at = require "autotune"

return at.pattern {
  name = "product",
  summary = "Product of two square matrices, by tiles in shared memory",
  problem = { n = 1024 },
  ragged = false,

  space = {
    tile_m = at.pow2(16, 128),
    tile_n = at.pow2(16, 128),
    tile_k = { 8, 16, 32 },
    threads_m = at.pow2(4, 32),
    threads_n = at.pow2(8, 32),
    layout = { "blocked", "strided" }, -- layout of a thread's elements in its tile
    vec = { 1, 2, 4 },                 -- elements of a load from global memory
    pad = { 0, 1 },                    -- padding of a's tile, which is stored transposed
    unroll = { 1, 8 },
  },
  where = {
    "tile_m % threads_m == 0 and tile_n % threads_n == 0",
    "tile_m // threads_m * (tile_n // threads_n) <= 64",
    "tile_m // threads_m * (tile_n // threads_n) >= 4",
    "threads_m * threads_n >= 64 and threads_m * threads_n <= 512",
    "tile_m * tile_k % (threads_m * threads_n * vec) == 0",
    "tile_n * tile_k % (threads_m * threads_n * vec) == 0",
    "unroll <= tile_k",
    "layout == 'strided' or tile_n // threads_n >= 2",
  },
  baseline = {
    tile_m = 32, tile_n = 32, tile_k = 8, threads_m = 8, threads_n = 8, layout = "strided",
    vec = 1, pad = 0, unroll = 1,
  },

  buffers = {
    a = at.input { dtype = "float", count = "n * n" },
    b = at.input { dtype = "float", count = "n * n" },
    c = at.output { dtype = "float", count = "n * n" },
  },
  kernel = { template = "product.cu.tmpl", entry = "product", args = { "a", "b", "c" } },
  launch = { grid = { "n // tile_n", "n // tile_m" }, block = { "threads_n", "threads_m" } },
  traffic = "3 * n * n * 4",
  reference = at.reference {
    template = "product_ref.cu.tmpl",
    args = { "a", "b", "c", at.int32 "n" },
  },
  tolerance = 1e-4,
}
