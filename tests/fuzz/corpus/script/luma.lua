-- Brightness of RGB pixels by coefficients in constant memory, as an argument, or in the code.
local at = require "autotune"

local red, green, blue = 0.2126, 0.7152, 0.0722

return at.pattern {
  name = "luma",
  summary = "RGB to brightness with coefficients in constant memory",
  problem = { n = 1 << 22 },
  ragged = { n = 1003 },
  simulated = { n = 1 << 13 },

  space = {
    coefficients = { "constant", "argument", "code" },
    block = at.pow2(64, 512),
    items = { 1, 2, 4 },
  },
  baseline = { block = 256 },

  buffers = {
    rgb = at.input { dtype = "uint8", count = "3 * n", shape = { "n", 3 } },
    weights = at.input { dtype = "float", count = 3, fill = at.values { red, green, blue } },
    luma = at.output { dtype = "uint8", count = "n" },
  },
  kernel = {
    template = "luma.cu.tmpl",
    constants = { weights = "weights" },
    args = { "rgb", "luma", at.struct { at.float(red), at.float(green), at.float(blue) }, at.half(0.5) },
  },
  launch = { grid = "ceil_div(n, block * items)", block = "block" },
  traffic = "4 * n",
  reference = at.reference { template = "luma_ref.cu.tmpl", args = { "rgb", "weights", "luma" } },
  tolerance = 0,
}
