-- The ceiling "write": bytes that one kernel can write in a second.
local at = require "autotune"

return at.pattern {
  name = "ceiling_write",
  summary = "Words that follow from where they are, which bounds what only writes",
  problem = { n = 1 << 28 },
  ragged = false,
  simulated = { n = 1 << 15 },

  space = {
    block = { 128, 256, 512, 1024 },
    vec = { 1, 2, 4 },             -- words of a store
    unroll = { 1, 2, 4, 8 },       -- stores of a thread
    hint = { "none", "streaming", "through" },
  },
  where = { "n % (block * vec * unroll) == 0" },
  baseline = { block = 256, vec = 4 },

  buffers = { dst = at.output { dtype = "uint32", count = "n" } },
  kernel = { template = "ceilings/write.cu.tmpl", entry = "ceiling_write", args = { "dst", at.uint64 "n" } },
  launch = { grid = "n // (block * vec * unroll)", block = "block" },
  traffic = "4 * n",
  ceiling = "write",
  reference = at.reference { template = "ceilings/write_ref.cu.tmpl", entry = "write_reference" },
}
