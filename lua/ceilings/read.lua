-- The ceiling "read": bytes that one kernel can read in a second.
local at = require "autotune"

return at.pattern {
  name = "ceiling_read",
  summary = "A sum of all words, which bounds what only reads",
  problem = { n = 1 << 28 },
  ragged = false,
  simulated = { n = 1 << 15 },

  space = {
    block = { 256, 512, 1024 },
    vec = { 1, 2, 4 },             -- words of a load
    unroll = { 1, 2, 4, 8 },       -- loads of a thread in flight
    trips = { 1, 4 },              -- iterations of the loop in a thread
    hint = { "none", "streaming" },
  },
  where = { "n % (block * vec * unroll * trips) == 0" },
  baseline = { vec = 4, unroll = 4 },

  buffers = {
    src = at.input { dtype = "uint32", count = "n" },
    sum = at.inout { dtype = "uint32", count = 1, fill = "zero" },
  },
  kernel = { template = "ceilings/read.cu.tmpl", entry = "ceiling_read", args = { "src", "sum", at.uint64 "n" } },
  launch = { grid = "n // (block * vec * unroll * trips)", block = "block" },
  traffic = "4 * n",
  ceiling = "read",
  reference = at.reference { template = "ceilings/read_ref.cu.tmpl", entry = "read_reference", grid = 64, block = 256 },
}
