-- Softmax of each row. The row is kept in registers, read three times, or read twice with a running maximum.
local at = require "autotune"

return at.pattern {
  name = "softmax",
  problem = { rows = 16384, cols = 2048 },
  ragged = false,
  simulated = { rows = 64, cols = 2048 },
  space = {
    algorithm = { "three_pass", "online", "registers", "shared" },
    threads = { 32, 64, 128, 256, 512, 1024 }, -- threads of a row
    rows_block = { 1, 2, 4, 8 },
    vec = { 1, 2, 4 },
    fast = { false, true },
  },
  where = {
    "threads * rows_block >= 64 and threads * rows_block <= 1024",
    "threads == 32 or rows_block == 1",
    "threads * vec <= cols",
    "algorithm ~= 'registers' or cols // threads <= 64",
    "algorithm ~= 'shared' or rows_block * cols * 4 <= 48 * 1024 - 256",
  },
  baseline = { algorithm = "three_pass", threads = 256, rows_block = 1, vec = 1, fast = false },
  buffers = {
    x = at.input { dtype = "float", count = "rows * cols" },
    y = at.output { dtype = "float", count = "rows * cols" },
  },
  kernel = { template = "softmax.cu.tmpl", entry = "softmax", args = { "x", "y" } },
  launch = { grid = "rows // rows_block", block = { "threads", "rows_block" } },
  traffic = "2 * rows * cols * 4",
  reference = at.reference { template = "softmax_ref.cu.tmpl", args = { "x", "y", "rows", "cols" },
                             grid = "ceil_div(rows, 64)", block = 64 },
  tolerance = 1e-4,
}
