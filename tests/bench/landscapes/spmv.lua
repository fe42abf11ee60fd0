-- Products of a sparse matrix, with `width` elements in each row, and a vector, which the L2 holds.
local at = require "autotune"

return at.pattern {
  name = "spmv",
  problem = { rows = 1 << 20, width = 32, cols = 1 << 20 },
  ragged = false,
  simulated = { rows = 4096, cols = 4096 },
  space = {
    threads = { 1, 2, 4, 8, 16, 32 }, -- threads of a row
    block = at.pow2(64, 1024),
    unroll = { 1, 2, 4, 8 },
    matrix_hint = { "none", "streaming", "no_allocate", "wide" },
    vector_hint = { "none", "streaming", "no_allocate", "wide" },
  },
  where = { "threads * unroll <= width" },
  baseline = { threads = 8, block = 256, unroll = 1, matrix_hint = "none", vector_hint = "none" },
  buffers = {
    values = at.input { dtype = "float", count = "rows * width" },
    columns = at.input { dtype = "uint32", count = "rows * width", fill = "below", limit = "cols" },
    x = at.input { dtype = "float", count = "cols" },
    y = at.output { dtype = "float", count = "rows" },
  },
  kernel = { template = "spmv.cu.tmpl", entry = "spmv", args = { "values", "columns", "x", "y" } },
  launch = { grid = "ceil_div(rows * threads, block)", block = "block" },
  traffic = "rows * width * 8 + rows * 4 + cols * 4",
  reference = at.reference { template = "spmv_ref.cu.tmpl", args = { "values", "columns", "x", "y" } },
  tolerance = 1e-3,
}
