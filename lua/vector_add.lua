-- c[i] = a[i] + b[i]: only memory traffic matters. The search finds the best number of bytes for a load and the best
-- number of loads that a thread has in flight.
local at = require "autotune"

return at.pattern {
  name = "vector_add",
  summary = "Sum of two arrays",
  problem = { n = 1 << 26, dtype = "float" },
  ragged = { n = 100003 },
  simulated = { n = 1 << 18 },

  space = {
    width = { 1, 2, 4, 8 }, -- elements of a pack, which one load moves
    items = { 1, 2, 4, 8 }, -- packs of a thread, a block's width apart
    block = at.pow2(64, 1024),
  },
  where = { "width * sizeof(dtype) <= 32" },
  baseline = { block = 256 },

  buffers = {
    a = at.input { dtype = "dtype", count = "n" },
    b = at.input { dtype = "dtype", count = "n" },
    c = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "vector_add.cu.tmpl", entry = "vector_add", args = { "a", "b", "c", at.int64("n") } },
  launch = { grid = "ceil_div(n, block * items * width)", block = "block" },
  traffic = "3 * n * sizeof(dtype)",
  reference = at.reference { template = "vector_add_ref.cu.tmpl" },
  tolerance = 0,
}
