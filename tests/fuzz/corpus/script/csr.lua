-- y = A x for a sparse matrix in compressed rows. Offsets and columns are filled so that every row has
-- a length of its own, and columns of a row lie near each other or anywhere.
local at = require "autotune"

return at.pattern {
  name = "csr",
  summary = "Sparse matrix times a vector, compressed rows",
  problem = { rows = 1 << 18, mean = 16, scattered = true },
  ragged = { { rows = 1001, mean = 7 }, { rows = 5, mean = 40, scattered = false } },
  simulated = { rows = 1 << 10 },

  space = {
    threads_per_row = { 1, 2, 4, 8, 16, 32 },
    block = at.pow2(64, 256),
    cached = { true, false }, -- x through the read-only cache
  },
  derived = { entries = "rows * mean" },
  baseline = { block = 128 },

  buffers = {
    offsets = at.input { dtype = "uint32", count = "rows + 1", fill = "offsets", limit = "entries" },
    columns = at.input { dtype = "uint32", count = "entries", limit = "rows", block = 64,
                         fill = "scattered and 'below' or 'local'" },
    values = at.input { dtype = "float", count = "entries" },
    x = at.input { dtype = "float", count = "rows" },
    y = at.output { dtype = "float", count = "rows" },
  },
  kernel = { template = "csr.cu.tmpl", args = { "offsets", "columns", "values", "x", "y" } },
  launch = { grid = "ceil_div(rows * threads_per_row, block)", block = "block" },
  traffic = "8 * entries + 12 * rows",
  reference = at.reference { template = "csr_ref.cu.tmpl" },
  tolerance = 1e-5,
}
