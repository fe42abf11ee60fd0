-- Sums an array in one launch. The blocks wait for each other: all blocks of a cooperative launch, or the blocks of a
-- cluster, which read each other's shared memory.
local at = require "autotune"

return at.pattern {
  name = "grid_sum",
  summary = "Sum of an array by blocks that wait for each other",
  problem = { n = 1 << 24 },
  ragged = { { n = 100003 }, { n = 1 } },

  space = {
    together = { "grid", "cluster" },
    block = at.pow2(128, 512),
    blocks = at.when("together == 'grid'", { 64, 132, 264 }),
    size = at.when("together == 'cluster'", { 2, 4, 8 }),
  },
  where = { "together == 'grid' or device.major >= 9" },
  baseline = { block = 256 },

  buffers = {
    src = at.input { dtype = "float", count = "n" },
    partial = at.scratch { dtype = "double", count = 264 },
    total = at.output { dtype = "double", count = 1 },
  },
  kernel = { template = "grid_sum.cu.tmpl", args = { "src", "partial", "total" } },
  launch = {
    grid = "together == 'grid' and blocks or size", block = "block",
    cluster = "together == 'cluster' and size or 1", cooperative = "together == 'grid'",
  },
  traffic = "4 * n",
  reference = at.reference { template = "grid_sum_ref.cu.tmpl", args = { "src", "total" }, grid = 1, block = 1024 },
  tolerance = 1e-9,
}
