-- Sums over a row-major matrix, of each row (axis "rows") or of each column ("columns"). Which loop runs inside a
-- thread and which across threads decides which threads read neighbouring addresses.
--
-- Floats are added in float (doubles in double), integers in int.
local at = require "autotune"

-- The size of a team of threads follows from the problem and the GPU, so that one configuration suits many shapes.
-- These functions return the nearest power of two that is at least, and at most, a positive number.
local function pow2_above(x) return ("(1 << log2(2 * (%s) - 1))"):format(x) end
local function pow2_below(x) return ("(1 << log2(%s))"):format(x) end

return at.pattern {
  name = "loop_order",
  summary = "Sums of the rows or of the columns of a row-major matrix",
  problem = { rows = 16384, cols = 16384, axis = "rows", dtype = "float" },
  -- The second problem has few columns, which several blocks share.
  ragged = { { rows = 203, cols = 1012 }, { rows = 8203, cols = 12 } },
  simulated = { rows = 256, cols = 1024 },

  space = {
    -- thread: one thread for each sum. team: neighbouring threads for each row, at least a warp and at most a block.
    -- bulk: a block for each row, whose copy engine brings the whole row to shared memory. tile, for rows: a block
    -- brings a tile of many rows to shared memory, and each thread sums along a row there. tile, for columns:
    -- neighbouring threads each sum some rows of their columns and combine the sums in shared memory.
    algorithm = { "thread", "team", "bulk", "tile" },
    block = at.pow2(64, 1024),       -- threads of a block; a team larger than a warp is a block
    -- Threads of a tile along a row. For columns there are more if vec does not divide a row, so that they cover as
    -- many columns.
    lanes = { 1, 8, 16, 32 },
    -- Elements of a row for each thread of its team, if there are enough rows to keep the GPU busy.
    share = at.when("algorithm == 'team'", { 16, 32, 64, 128 }),
    -- Factor by which a team's threads should oversubscribe the GPU, as far as more threads for a row help; 0 for no
    -- influence.
    waves = at.when("algorithm == 'team'", { 0, 1, 2, 4 }),
    cluster = at.when("of_columns and device.major >= 9", { 1, 8 }, 1), -- blocks that share columns and divide the rows
    vec = { 1, 2, 4, 8, 16 },        -- elements of a load, as far as they divide a row
    unroll = { 1, 2, 4, 8 },         -- loads of vec elements that a thread has in flight
    accumulators = { 1, 2, 4 },      -- partial sums of a thread
    load_hint = { "none", "streaming", "no_allocate" },
  },
  derived = {
    of_columns = "algorithm == 'tile' and axis == 'columns'",
    vector = "min(vec, cols & -cols)",
    packs = "cols // vector",
    turn = "min(unroll * (vec // vector), 32)", -- loads in flight: more if they are narrower
    across = "of_columns and lanes * (vec // vector) or lanes",
    stretches = "ceil_div(packs, algorithm == 'tile' and across or block)", -- parts of a row
    team_of_share = pow2_above "ceil_div(cols, share)",
    team_of_waves = pow2_below "max(device.sm_count * device.max_threads_per_sm * waves // rows, 1)",
    team_most = "min(" .. pow2_above "packs" .. ", device.max_threads_per_block)",
    team = "max(32, min(max(team_of_share, team_of_waves), team_most))",
    threads = "algorithm == 'team' and team > 32 and team or block",
    pieces = "cols >= 4 * vec and 4 or 1", -- parts of a row that the copy engine brings, each with a barrier
    blocks = "axis == 'columns' and stretches * cluster or algorithm == 'bulk' and rows or "
      .. "ceil_div(rows, algorithm ~= 'team' and block or team > 32 and 1 or block // 32)",
  },
  choose_by = { load = "blocks * threads / (device.sm_count * device.max_threads_per_sm)" },
  where = {
    "axis == 'rows' or axis == 'columns'",
    "axis == 'rows' or algorithm == 'thread' or algorithm == 'tile'",
    "vec * sizeof(dtype) <= 16",
    "vec * sizeof(dtype) >= 2 or load_hint ~= 'no_allocate'",
    "accumulators <= unroll",
    "algorithm == 'tile' and lanes > 1 or algorithm ~= 'tile' and lanes == 1",
    "algorithm ~= 'team' or block >= 128 and block <= 256",
    "algorithm ~= 'thread' or axis == 'columns' or load_hint == 'none' and unroll <= 4",
    "algorithm ~= 'bulk' or device.major >= 9 and cols * sizeof(dtype) + 1024 <= device.max_shared_per_block",
    "algorithm ~= 'bulk' or vec * sizeof(dtype) == 16 and cols % vec == 0 and load_hint == 'none'",
    -- A tile has as many rows as the block has threads, and `lanes` loads of each. Each element has its own address in
    -- shared memory.
    "algorithm ~= 'tile' or axis == 'columns' or block * (lanes * vec + 1) * sizeof(dtype) <= 48 * 1024",
    "algorithm ~= 'tile' or axis == 'columns' or accumulators == 1 and unroll <= 4",
    -- A partial sum of each column for each line of threads. There are several lines if blocks share columns.
    "not of_columns or accumulators == 1 and block * vec * max(sizeof(dtype), 4) <= 48 * 1024",
    "not of_columns or lanes * vec * (cluster > 1 and 2 or 1) <= block",
    "sizeof(dtype) * vec * unroll <= 128",
    -- Full vectors and few columns for each block are fast; a few of the other configurations show that.
    "vec * sizeof(dtype) >= 8 or of_columns and vec * sizeof(dtype) >= 4 or "
      .. "vec == 1 and accumulators == 1 and load_hint == 'none'",
    "algorithm ~= 'team' or accumulators <= 2 and (vec == 1 or unroll > 1)",
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
  launch = { grid = "blocks", block = "threads", cluster = "cluster" },
  traffic = "rows * cols * sizeof(dtype)",
  ceiling = "read",
  reference = at.reference { template = "loop_order_ref.cu.tmpl" },
  -- Sums of random signs: the errors are a few bits of the largest sum.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 8 and 1e-12 or 2e-5",
}
