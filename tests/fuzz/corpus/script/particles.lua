-- Particles that move for a step, as an array of structs, as a struct of arrays, or as tiles of arrays:
-- the layout is a parameter, and each layout has data of its own.
local at = require "autotune"

return at.pattern {
  name = "particles",
  summary = "Particles of six floats in three layouts",
  problem = { n = 1 << 22, dt = 0.125 },
  ragged = { n = 1003 },
  simulated = { n = 1 << 13 },

  space = {
    layout = { "aos", "soa", "tiles" },
    tile = at.when("layout == 'tiles'", { 8, 32 }, 1), -- particles of a tile
    block = at.pow2(64, 512),
  },
  layout = { "layout", "tile" },
  derived = { places = "round_up(n, tile)" },
  baseline = { block = 256 },

  buffers = {
    particles = at.inout { dtype = "float", count = "6 * places" },
  },
  -- Positions from 0 to 1, velocities of either sign, whatever the layout.
  prepare = at.kernel { template = "particles_fill.cu.tmpl", args = { "particles" } },
  kernel = { template = "particles.cu.tmpl", entry = "move", args = { "particles", at.float "dt" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
  traffic = "48 * n",
  reference = at.reference { template = "particles_ref.cu.tmpl" },
  tolerance = 0,
}
