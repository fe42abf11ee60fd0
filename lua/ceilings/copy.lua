-- The ceiling "copy": bytes that one kernel can read and write in a second.
local at = require "autotune"

return at.pattern {
  name = "ceiling_copy",
  summary = "A copy, which bounds what reads as much as it writes",
  problem = { n = 1 << 27 },
  ragged = false,
  simulated = { n = 1 << 15 },

  space = {
    block = { 128, 256, 512, 1024 },
    vec = { 1, 2, 4 },             -- words of a load or store
    unroll = { 1, 2, 4, 8 },       -- loads of a thread in flight
    hint = { "none", "streaming" },
  },
  where = { "n % (block * vec * unroll) == 0" },
  baseline = { block = 256, vec = 4, unroll = 4 },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = { template = "ceilings/copy.cu.tmpl", entry = "ceiling_copy", args = { "src", "dst", at.uint64 "n" } },
  launch = { grid = "n // (block * vec * unroll)", block = "block" },
  traffic = "8 * n",
  ceiling = "copy",
  reference = at.reference { template = "ceilings/copy_ref.cu.tmpl", entry = "copy_reference" },
}
