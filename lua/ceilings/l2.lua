-- The ceiling "l2": bytes that the L2 delivers in a second, of words that stay there and that no L1 keeps. Measured
-- with a warm cache.
local at = require "autotune"

local words = "max(1, device.l2_bytes // share // 4096) * 1024"

return at.pattern {
  name = "ceiling_l2",
  summary = "A sum of the same words over and over, past the L1",
  problem = { share = 4, passes = 64 }, -- the data has the size of the L2 divided by `share`
  ragged = false,
  simulated = { share = 512, passes = 2 },

  space = {
    block = { 256, 512, 1024 },
    vec = { 1, 2, 4 },             -- words of a load
    unroll = { 1, 2, 4, 8 },       -- loads of a thread in flight
    blocks_per_sm = { 1, 2, 4 },
  },
  where = { "block * blocks_per_sm <= device.max_threads_per_sm" },
  baseline = { vec = 4, unroll = 4 },

  buffers = {
    src = at.input { dtype = "uint32", count = words },
    sum = at.inout { dtype = "uint32", count = 1, fill = "zero" },
  },
  kernel = {
    template = "ceilings/l2.cu.tmpl", entry = "ceiling_l2",
    args = { "src", "sum", at.uint64(words), at.uint64 "passes" },
  },
  launch = { grid = "device.sm_count * blocks_per_sm", block = "block" },
  traffic = ("4 * passes * (%s)"):format(words),
  ceiling = "l2",
  reference = at.reference { template = "ceilings/l2_ref.cu.tmpl", entry = "l2_reference", grid = 64, block = 256 },
}
