-- The mean of each point of a cube and its six neighbours: a space limited by memory, caches and the shape of the
-- block, for setting the constants of the search strategies (see landscapes.sh).
local at = require "autotune"

return at.pattern {
  name = "stencil",
  summary = "Seven-point stencil on a cube",
  problem = { n = 384 },
  ragged = false,

  space = {
    block_x = { 16, 32, 48, 64, 96, 128, 192 },
    block_y = { 1, 2, 3, 4, 6, 8, 12, 16 },
    tile_y = { 1, 2, 4 },              -- rows of a thread
    tile_z = { 1, 2, 4, 8, 16 },       -- planes of a thread
    march = { false, true },           -- keep the points above and below in registers
    staged = { false, true },          -- share the plane's rows through shared memory
    unroll = { 1, 4 },                 -- planes
    store_hint = { "none", "streaming" },
  },
  where = {
    "block_x * block_y >= 32 and block_x * block_y <= 1024",
    "n % (block_y * tile_y) == 0",
    "march or not staged",
    "unroll <= tile_z",
    "tile_z > 1 or not march",
  },
  baseline = {
    block_x = 32, block_y = 8, tile_y = 1, tile_z = 1, march = false, staged = false, unroll = 1,
    store_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "float", count = "n * n * n" },
    dst = at.output { dtype = "float", count = "n * n * n" },
  },
  kernel = { template = "stencil.cu.tmpl", entry = "stencil", args = { "src", "dst" } },
  launch = {
    grid = { "n // block_x", "n // (block_y * tile_y)", "n // tile_z" },
    block = { "block_x", "block_y" },
  },
  traffic = "2 * n * n * n * 4",
  reference = at.reference {
    template = "stencil_ref.cu.tmpl",
    args = { "src", "dst", at.int32 "n" },
  },
  tolerance = 1e-5,
}
