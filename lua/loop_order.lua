-- Sums over a row-major matrix, of each row (axis "rows") or of each column ("columns"): which loop
-- runs inside a thread and which across threads decides who reads neighbouring addresses.
--
-- Floats are added in float (double in double), integers in int.
local at = require "autotune"

-- Columns that a block takes when it sums columns.
local side = "(algorithm == 'tile' and lanes * vec or block * vec)"

return at.pattern {
  name = "loop_order",
  summary = "Sums of the rows or of the columns of a row-major matrix",
  problem = { rows = 16384, cols = 16384, axis = "rows", dtype = "float" },
  ragged = { rows = 203, cols = 1012 },
  simulated = { rows = 256, cols = 1024 },

  space = {
    -- thread: a thread for each sum; warp, block: one for each row; bulk: the same as block, but the copy
    -- engine of the multiprocessor brings the whole row to shared memory; tile, of rows: a block brings a tile
    -- of many rows to shared memory and each thread sums along one there; tile, of columns: `lanes`
    -- threads side by side, whose sums of every so many rows meet in shared memory.
    algorithm = { "thread", "warp", "block", "bulk", "tile" },
    block = at.pow2(64, 1024),
    lanes = { 1, 8, 16, 32 },        -- threads of a tile along a row
    vec = { 1, 2, 4, 8, 16 },        -- elements of a load
    unroll = { 1, 2, 4, 8 },         -- loads of a thread in flight
    accumulators = { 1, 2, 4 },      -- sums that a thread keeps
    load_hint = { "none", "streaming", "no_allocate" },
  },
  derived = {
    pieces = "cols >= 4 * vec and 4 or 1", -- that the copy engine brings of a row, each with a barrier
  },
  where = {
    "axis == 'rows' or axis == 'columns'",
    "axis == 'rows' or algorithm == 'thread' or algorithm == 'tile'",
    "vec * sizeof(dtype) <= 16 and cols % vec == 0",
    "vec * sizeof(dtype) >= 2 or load_hint ~= 'no_allocate'",
    "accumulators <= unroll",
    "algorithm == 'tile' and lanes > 1 or algorithm ~= 'tile' and lanes == 1",
    "algorithm ~= 'thread' or axis == 'columns' or load_hint == 'none' and unroll <= 4",
    "algorithm ~= 'bulk' or device.major >= 9 and cols * sizeof(dtype) + 1024 <= device.max_shared_per_block",
    "algorithm ~= 'bulk' or vec * sizeof(dtype) == 16 and load_hint == 'none'",
    -- A tile of as many rows as the block has threads, and of `lanes` loads: of elements that have
    -- their own place in shared memory.
    "algorithm ~= 'tile' or axis == 'columns' or block * (lanes * vec + 1) * sizeof(dtype) <= 48 * 1024",
    "algorithm ~= 'tile' or axis == 'columns' or accumulators == 1 and unroll <= 4",
    -- Each column's sums of all lines.
    "algorithm ~= 'tile' or axis == 'rows' or accumulators == 1 and block * vec * max(sizeof(dtype), 4) <= 48 * 1024",
    "sizeof(dtype) * vec * unroll <= 128",
    -- Full vectors pay; of the others a few show that.
    "vec * sizeof(dtype) >= 8 or vec == 1 and accumulators == 1 and load_hint == 'none'",
  },
  baseline = {
    algorithm = "thread", block = 256, lanes = 1, vec = 1, unroll = 1, accumulators = 1, load_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "dtype", count = "rows * cols", shape = { "rows", "cols" } },
    dst = at.output {
      dtype = "dtype == 'double' and 'double' or is_float(dtype) and 'float' or sizeof(dtype) < 8 and 'int32' or 'int64'",
      count = "axis == 'rows' and rows or cols",
    },
  },
  kernel = {
    template = "loop_order.cu.tmpl",
    entry = "loop_order",
    args = { "src", "dst" },
    shared = "algorithm == 'bulk' and cols * sizeof(dtype) or 0",
  },
  launch = {
    grid = ("axis == 'columns' and ceil_div(cols, %s) or (algorithm == 'block' or algorithm == 'bulk') and rows "):format(side)
      .. "or ceil_div(rows, algorithm == 'warp' and block // 32 or block)",
    block = "block",
  },
  traffic = "rows * cols * sizeof(dtype)",
  ceiling = "read",
  reference = at.reference { template = "loop_order_ref.cu.tmpl" },
  -- Sums of random signs: their errors are of a few bits of the largest.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 8 and 1e-12 or 2e-5",
}
