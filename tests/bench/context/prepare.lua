-- This kernel runs before `windowed`: it writes the samples and the table that `windowed` reads.
local at = require "autotune"

return at.pattern {
  name = "prepare",
  problem = { n = 1 << 21, terms = 64 },
  ragged = { n = 100003 },
  space = { block = { 256 } },
  buffers = {
    raw = at.input { dtype = "int16", count = "n" },
    x = at.output { dtype = "float", count = "n" },
    weights = at.output { dtype = "float", count = "n" },
  },
  kernel = { template = "prepare.cu.tmpl", args = { "raw", "x", "weights" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
  traffic = "10 * n",
}
