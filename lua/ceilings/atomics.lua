-- The ceiling "atomics": additions of words to global memory in a second. The lanes of a warp access neighbouring
-- words, and no other warp accesses these at the same time.
local at = require "autotune"

return at.pattern {
  name = "ceiling_atomics",
  summary = "Atomic additions to words that lie in the L2",
  problem = { n = 1 << 26, words = 1 << 18 },
  ragged = false,
  simulated = { n = 1 << 14, words = 1 << 10 },

  space = {
    block = { 128, 256, 512, 1024 },
    items = { 1, 2, 4, 8, 16 },    -- additions of a thread
    returns = { false, true },     -- true: atomic operations, which return the old word; false: reductions
  },
  where = { "n % (block * items) == 0", "n % words == 0", "words % block == 0" },
  baseline = { block = 256, items = 4 },

  buffers = {
    counts = at.inout { dtype = "uint32", count = "words", fill = "zero" },
    last = at.scratch { dtype = "uint32", count = "words" },
  },
  kernel = {
    template = "ceilings/atomics.cu.tmpl", entry = "ceiling_atomics",
    args = { "counts", "last", at.uint64 "n", at.uint64 "words" },
  },
  launch = { grid = "n // (block * items)", block = "block" },
  items = { additions = "n" },
  ceiling = "atomics",
  reference = at.reference { template = "ceilings/atomics_ref.cu.tmpl", entry = "atomics_reference" },
}
