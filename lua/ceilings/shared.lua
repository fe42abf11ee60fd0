-- The ceiling "shared": bytes that threads can read from shared memory in a second, without conflicts. Each warp reads
-- a window of 4 KiB over and over.
local at = require "autotune"

return at.pattern {
  name = "ceiling_shared",
  summary = "A sum of the same words of shared memory over and over",
  problem = { warps = 1 << 16, passes = 64 },
  ragged = false,
  simulated = { warps = 1 << 7, passes = 2 },

  space = {
    block = { 128, 256, 512, 1024 },
    vec = { 1, 2, 4 },             -- words of a load
    unroll = { 1, 2, 4 },          -- passes in one iteration of the loop
  },
  where = { "warps * 32 % block == 0" },
  baseline = { block = 256, vec = 4 },

  buffers = {
    src = at.input { dtype = "uint32", count = 1024 },
    sums = at.output { dtype = "uint32", count = "warps" },
  },
  kernel = {
    template = "ceilings/shared.cu.tmpl", entry = "ceiling_shared",
    args = { "src", "sums", at.uint64 "warps", at.uint64 "passes" },
  },
  launch = { grid = "warps * 32 // block", block = "block" },
  traffic = "4096 * warps * passes",
  ceiling = "shared",
  reference = at.reference { template = "ceilings/shared_ref.cu.tmpl", entry = "shared_reference" },
}
