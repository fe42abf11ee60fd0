-- Each byte of the input is an index into a table of 256 numbers.
local at = require "autotune"

return at.pattern {
  name = "lookup",
  problem = { n = 1 << 26 },
  ragged = false,
  simulated = { n = 1 << 16 },
  space = {
    memory = { "constant", "shared", "global" },
    copies = at.when("memory == 'shared'", { 1, 4, 32 }, 1), -- copies of the table; successive lanes use successive copies
    block = at.pow2(64, 1024),
    vec = { 1, 2, 4 },
    items = { 1, 2, 4, 8 },
    store_hint = { "none", "streaming", "through" },
  },
  where = { "n % (block * vec * items) == 0" },
  baseline = { memory = "global", copies = 1, block = 256, vec = 1, items = 1, store_hint = "none" },
  buffers = {
    x = at.input { dtype = "uint8", count = "n" },
    y = at.output { dtype = "float", count = "n" },
  },
  kernel = { template = "lookup.cu.tmpl", entry = "lookup", args = { "x", "y" } },
  launch = { grid = "n // (block * vec * items)", block = "block" },
  traffic = "5 * n",
  reference = at.reference { template = "lookup_ref.cu.tmpl", args = { "x", "y" } },
  tolerance = 0,
}
