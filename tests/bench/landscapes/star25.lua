-- A star of 25 points in a cube, by blocks that go along z. Parameters: where the plane and the column are kept.
local at = require "autotune"

return at.pattern {
  name = "star25",
  problem = { nx = 512, ny = 512, nz = 256 },
  ragged = false,
  simulated = { nx = 128, ny = 64, nz = 16 },
  space = {
    block_x = { 16, 32, 64, 128 },
    block_y = { 2, 4, 8, 16, 32 },
    depth = { 1, 16, 64, 256 },     -- planes of a block
    column = { "registers", "global" },
    plane = { "shared", "global" },
    bounds = { 0, 2 },              -- minimum of resident blocks on an SM
    unroll = { 1, 2 },
  },
  where = {
    "block_x * block_y >= 64 and block_x * block_y <= 512",
    "depth > 1 or column == 'global' and unroll == 1",
    "depth <= nz",
    "block_y >= 4 or plane == 'global'",
  },
  baseline = { block_x = 32, block_y = 8, depth = 1, column = "global", plane = "global", bounds = 0, unroll = 1 },
  buffers = {
    u = at.input { dtype = "float", count = "(nx + 8) * (ny + 8) * (nz + 8)" },
    v = at.output { dtype = "float", count = "nx * ny * nz" },
  },
  kernel = { template = "star25.cu.tmpl", entry = "star25", args = { "u", "v" } },
  launch = { grid = { "nx // block_x", "ny // block_y", "nz // depth" }, block = { "block_x", "block_y" } },
  traffic = "2 * nx * ny * nz * 4",
  reference = at.reference { template = "star25_ref.cu.tmpl", args = { "u", "v", "nx", "ny" } },
  tolerance = 1e-5,
}
