-- Sums over a row-major matrix, of each row (axis "rows") or of each column ("columns"): which loop
-- runs inside a thread and which across threads decides who reads neighbouring addresses.
--
-- Floats are added in float (double in double), integers in int.
local at = require "autotune"

-- A team of threads is relative to the problem and the GPU, so that one configuration suits many shapes: the power of
-- two that is not below, and that is not above, a positive number.
local function pow2_above(x) return ("(1 << log2(2 * (%s) - 1))"):format(x) end
local function pow2_below(x) return ("(1 << log2(%s))"):format(x) end

return at.pattern {
  name = "loop_order",
  summary = "Sums of the rows or of the columns of a row-major matrix",
  problem = { rows = 16384, cols = 16384, axis = "rows", dtype = "float" },
  -- Of few columns: those that several blocks share.
  ragged = { { rows = 203, cols = 1012 }, { rows = 8203, cols = 12 } },
  simulated = { rows = 256, cols = 1024 },

  space = {
    -- thread: a thread for each sum; team: some neighbouring threads for each row, a warp at least and a block
    -- at most; bulk: a block for each, but the copy engine of the multiprocessor brings the whole row to
    -- shared memory; tile, of rows: a block brings a tile of many rows to shared memory and each thread sums
    -- along one there; tile, of columns: threads side by side, whose sums of every so many rows meet in
    -- shared memory.
    algorithm = { "thread", "team", "bulk", "tile" },
    block = at.pow2(64, 1024),       -- threads of a block; teams that are larger than a warp have one each
    -- Threads of a tile along a row; of columns more, where vec does not divide a row, for as many columns.
    lanes = { 1, 8, 16, 32 },
    -- Elements of a row for each of its team's threads, where there are enough rows to keep the GPU busy.
    share = at.when("algorithm == 'team'", { 16, 32, 64, 128 }),
    -- So many times the GPU's threads have something to do, as far as more threads for a row help; 0: that is not
    -- looked at.
    waves = at.when("algorithm == 'team'", { 0, 1, 2, 4 }),
    cluster = at.when("of_columns and device.major >= 9", { 1, 8 }, 1), -- blocks that share columns, by their rows
    vec = { 1, 2, 4, 8, 16 },        -- elements of a load, as far as they divide a row
    unroll = { 1, 2, 4, 8 },         -- loads of a thread in flight, of vec elements
    accumulators = { 1, 2, 4 },      -- sums that a thread keeps
    load_hint = { "none", "streaming", "no_allocate" },
  },
  derived = {
    of_columns = "algorithm == 'tile' and axis == 'columns'",
    vector = "min(vec, cols & -cols)",
    packs = "cols // vector",
    turn = "min(unroll * (vec // vector), 32)", -- loads in flight: of narrower ones more
    across = "of_columns and lanes * (vec // vector) or lanes",
    stretches = "ceil_div(packs, algorithm == 'tile' and across or block)", -- of a row
    team_of_share = pow2_above "ceil_div(cols, share)",
    team_of_waves = pow2_below "max(device.sm_count * device.max_threads_per_sm * waves // rows, 1)",
    team_most = "min(" .. pow2_above "packs" .. ", device.max_threads_per_block)",
    team = "max(32, min(max(team_of_share, team_of_waves), team_most))",
    threads = "algorithm == 'team' and team > 32 and team or block",
    pieces = "cols >= 4 * vec and 4 or 1", -- that the copy engine brings of a row, each with a barrier
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
    -- A tile of as many rows as the block has threads, and of `lanes` loads: of elements that have
    -- their own place in shared memory.
    "algorithm ~= 'tile' or axis == 'columns' or block * (lanes * vec + 1) * sizeof(dtype) <= 48 * 1024",
    "algorithm ~= 'tile' or axis == 'columns' or accumulators == 1 and unroll <= 4",
    -- Each column's sums of all lines, of which there are several where blocks share columns.
    "not of_columns or accumulators == 1 and block * vec * max(sizeof(dtype), 4) <= 48 * 1024",
    "not of_columns or lanes * vec * (cluster > 1 and 2 or 1) <= block",
    "sizeof(dtype) * vec * unroll <= 128",
    -- Full vectors pay, and few columns a block; of the others a few show that.
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
  -- Sums of random signs: their errors are of a few bits of the largest.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 8 and 1e-12 or 2e-5",
}
