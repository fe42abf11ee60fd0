-- The ceiling "blocks": blocks of a grid that start in a second. Each block does almost nothing.
local at = require "autotune"

return at.pattern {
  name = "ceiling_blocks",
  summary = "A grid of blocks of which one writes a word",
  problem = { n = 1 << 20 },
  ragged = false,
  simulated = { n = 1 << 10 },

  space = { block = { 64, 128, 256 } },
  baseline = { block = 128 },

  buffers = { dst = at.output { dtype = "uint32", count = 1 } },
  kernel = { template = "ceilings/blocks.cu.tmpl", entry = "ceiling_blocks", args = { "dst", at.uint64 "n" } },
  launch = { grid = "n", block = "block" },
  items = { blocks = "n" },
  ceiling = "blocks",
  reference = at.reference { template = "ceilings/blocks_ref.cu.tmpl", entry = "blocks_reference" },
}
