-- The ceiling "l1": bytes that the L1s of all SMs deliver in a second, of words that stay there. Each block reads the
-- same words over and over.
local at = require "autotune"

local words, blocks = 4096, "4 * device.sm_count"

return at.pattern {
  name = "ceiling_l1",
  summary = "A sum of the same few words over and over, out of the L1",
  problem = { passes = 256 },
  ragged = false,
  simulated = { passes = 2 },

  space = {
    block = { 128, 256, 512 },
    vec = { 1, 2, 4 },    -- words of a load
    unroll = { 1, 2, 4 }, -- loads of a thread in flight
  },
  where = { ("block * vec * unroll <= %d"):format(words) },
  baseline = { vec = 4, unroll = 4 },

  buffers = {
    src = at.input { dtype = "uint32", count = words },
    sum = at.inout { dtype = "uint32", count = 1, fill = "zero" },
  },
  kernel = {
    template = "ceilings/l1.cu.tmpl", entry = "ceiling_l1",
    args = { "src", "sum", at.uint64(words), at.uint64("passes * " .. blocks) },
  },
  launch = { grid = blocks, block = "block" },
  traffic = ("4 * passes * %s * %d"):format(blocks, words),
  ceiling = "l1",
  reference = at.reference { template = "ceilings/l2_ref.cu.tmpl", entry = "l2_reference", grid = 64, block = 256 },
}
