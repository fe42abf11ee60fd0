-- Sums over a row-major matrix, of each row (axis "rows") or of each column ("columns"): which loop
-- runs inside a thread and which across threads decides who reads neighbouring addresses.
--
-- Floats are added in float (double in double), integers in int.
local at = require "autotune"

-- Threads and widths are relative to the problem and the GPU, so that one configuration suits many shapes.

-- The power of two that is not above, and that is not below, a positive number.
local function pow2_below(x) return ("(1 << log2(%s))"):format(x) end
local function pow2_above(x) return ("(1 << log2(2 * (%s) - 1))"):format(x) end

-- Of a tile of columns that reads so many sectors of a row: the elements of a load, and the threads along that row.
local function vector_of(sectors)
  return ("min(widest, max(4 * %s // sizeof(dtype), 1))"):format(sectors)
end
local function across_of(sectors, vector)
  return ("32 * %s // (%s * sizeof(dtype))"):format(sectors, vector)
end

-- A tile of columns has the form that an estimate says is the fastest: what a block reads of each row, 1, 2, 4 or 8
-- sectors of 32 bytes, by loads as wide as leave eight threads along a row; how often its threads are halved; and how
-- many blocks are a cluster, which share columns, each with every so many of the rows. The time is told in bytes that a
-- multiprocessor reads while all read. It is the sum of
-- - what all read, or 0.428 of what the busiest multiprocessor reads, which is faster by itself, where that is more;
-- - 0.392 of the latter's again where it has more than half of the threads that it can hold: they read no faster;
-- - 98 for each byte that a thread loads;
-- - 56 for each line of threads, whose sums meet;
-- - 67900 for clusters to start and to meet; it counts, as their loads do, as often as clusters fill the GPU.
-- A stretch of a row costs 18 bytes more than it has, one of a single sector 27. A cluster's blocks lie within 16
-- multiprocessors, and room for one of all clusters is not counted on. The busiest multiprocessor and its loads count
-- by as many halves as `waves`.
-- The numbers were fitted to an H200's times of floats on 240 problems of 256 to 16384 rows and columns, with blocks of
-- 1024, two loads in flight, loads that allocate no lines where the L2 cache holds the matrix, and 16 forms. What is
-- chosen is slower than the fastest of these by 0.6 % in the mean and by more than 4 % on 4 of the 240; on problems that
-- the numbers were not fitted to by 0.65 % and on 5. Other GPUs, types and load hints were not timed.
local function time_of(sectors, halvings, parts)
  local bytes = 32 * sectors
  local vector = vector_of(sectors)
  local across = across_of(sectors, vector)
  local threads = ("max(block >> %d, %s, 32)"):format(halvings, across)
  local lines = ("%s // (%s)"):format(threads, across)
  local stretches = ("ceil_div(cols * sizeof(dtype), %d)"):format(bytes)
  local busiest = parts == 1 and ("ceil_div(%s, device.sm_count)"):format(stretches)
    or ("ceil_div(ceil_div(%s + 1, max(device.sm_count // 16, 1)) * %d, 16)"):format(stretches, parts)
  local crowded = ("%s * %s > device.max_threads_per_sm // 2"):format(busiest, threads)
  local read = ("max(%s * 1000 // device.sm_count, %s * 214 * waves // %d)"):format(stretches, busiest, parts)
  local again = ("(%s and %s * 196 * waves // %d or 0)"):format(crowded, busiest, parts)
  local loaded = ("ceil_div(rows, %s * %d) * %s * sizeof(dtype)"):format(lines, parts, vector)
  local meet, rounds = 0, "1"
  if parts > 1 then
    meet, rounds = 67900, ("ceil_div(%s * %s, device.max_threads_per_sm)"):format(busiest, threads)
  end
  return ("(%s + %s) * rows * %d // 1000 + (49 * waves * %s + %d) * %s + 56 * (%s)"):format(
    read, again, bytes + (sectors == 1 and 27 or 18), loaded, meet, rounds, lines)
end

-- 64 times the time of a form and what it is: 16 times the logarithm of its sectors, 4 times how often its threads are
-- halved, and the logarithm of a cluster's blocks; not every GPU has clusters.
local function form(sectors, halvings, parts)
  return ("%s(%s) * 64 + %d"):format(
    parts > 0 and "device.major < 9 and 1 << 60 or " or "",
    time_of(1 << sectors, halvings, 1 << parts), 16 * sectors + 4 * halvings + parts)
end
local alone = { form(0, 0, 0), form(0, 1, 0), form(1, 0, 0), form(2, 0, 0), form(3, 0, 0), form(3, 1, 0) }
-- Of single sectors for matrices of fewer columns than were timed.
local shared = { form(0, 0, 3), form(2, 0, 3), form(3, 0, 3) }

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
    -- Threads of a block; teams that are larger than a warp have one each.
    block = at.pow2(64, 1024),
    lanes = { 1, 8, 16, 32 },        -- threads of a tile along a row
    -- Elements of a row for each of its team's threads, where there are enough rows to keep the GPU busy.
    share = at.when("algorithm == 'team'", { 16, 32, 64, 128 }),
    -- So many times the GPU's threads have something to do, as far as more threads for a row help (team); how much
    -- the busiest multiprocessor counts in the estimate above, 2 as it was fitted (tile, of columns). 0: that is not
    -- looked at; a tile of columns has `block` threads, `lanes` of them along a row, and is not shared.
    waves = at.when("algorithm == 'team' or algorithm == 'tile' and axis == 'columns'", { 0, 1, 2, 4 }),
    vec = { 1, 2, 4, 8, 16 },        -- elements of a load, as far as they divide a row
    unroll = { 1, 2, 4, 8 },         -- loads of a thread in flight, of vec elements
    accumulators = { 1, 2, 4 },      -- sums that a thread keeps
    -- by_size, for tiles of columns: loads allocate no lines where the matrix is small, and do where it is large.
    load_hint = at.when("algorithm == 'tile' and axis == 'columns'", { "none", "streaming", "no_allocate", "by_size" },
                        { "none", "streaming", "no_allocate" }),
  },
  derived = {
    widest = "min(vec, cols & -cols)",
    -- Of sums of columns of floats, 48 problems on an H200, no_allocate saves up to 4 % where the L2 cache holds
    -- the matrix, of at most 50 MiB, and costs up to 14 % where it does not. Other GPUs and types were not timed.
    hint = "load_hint ~= 'by_size' and load_hint or rows * cols * sizeof(dtype) <= 50 << 20 and 'no_allocate' or 'none'",
    ruled = "axis == 'columns' and algorithm == 'tile' and waves > 0",
    best = ("min(min(%s), min(%s))"):format(table.concat(alone, ", "), table.concat(shared, ", ")),
    sectors = "1 << best // 16 % 4", -- of a stretch
    vector = "ruled and " .. vector_of "sectors" .. " or widest",
    across = "ruled and " .. across_of("sectors", "vector") .. " or lanes",
    stretches = "ruled and ceil_div(cols * sizeof(dtype), 32 * sectors) or "
      .. "ceil_div(cols // widest, algorithm == 'tile' and lanes or block)",
    cluster = "ruled and 1 << best % 4 or 1",
    packs = "cols // vector",
    -- Loads in flight: of narrower ones more; forms are as fast with few.
    turn = "ruled and unroll or min(unroll * (vec // vector), 32)",
    team_of_share = pow2_above "ceil_div(cols, share)",
    team_of_waves = pow2_below "max(device.sm_count * device.max_threads_per_sm * waves // rows, 1)",
    team_most = "min(" .. pow2_above "cols // widest" .. ", device.max_threads_per_block)",
    team_asked = "max(32, min(max(team_of_share, team_of_waves), team_most))",
    -- Two warps were the fastest on none of 66 problems on an H200: one was, or, where rows are few and long for it, four.
    team = "team_asked ~= 64 and team_asked or "
      .. "(rows < 20 * device.sm_count and cols * sizeof(dtype) > 2688 and 128 or 32)",
    threads = "algorithm == 'team' and team > 32 and team or "
      .. "ruled and max(block >> best // 4 % 4, across, 32) or block",
    pieces = "cols >= 4 * vec and 4 or 1", -- that the copy engine brings of a row, each with a barrier
  },
  where = {
    "axis == 'rows' or axis == 'columns'",
    "axis == 'rows' or algorithm == 'thread' or algorithm == 'tile'",
    "vec * sizeof(dtype) <= 16",
    "vec * sizeof(dtype) >= 2 or load_hint ~= 'no_allocate' and load_hint ~= 'by_size'",
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
    -- Each column's sums of all lines.
    "algorithm ~= 'tile' or axis == 'rows' or accumulators == 1 and block * vec * max(sizeof(dtype), 4) <= 48 * 1024",
    "algorithm ~= 'tile' or waves == 0 or lanes == 32",
    "sizeof(dtype) * vec * unroll <= 128",
    -- Full vectors pay; of the others a few show that.
    "vec * sizeof(dtype) >= 8 or vec == 1 and accumulators == 1 and load_hint == 'none'",
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
  launch = {
    grid = "axis == 'columns' and stretches * cluster or algorithm == 'bulk' and rows or "
      .. "ceil_div(rows, algorithm ~= 'team' and block or team > 32 and 1 or block // 32)",
    block = "threads",
    cluster = "cluster",
  },
  traffic = "rows * cols * sizeof(dtype)",
  ceiling = "read",
  reference = at.reference { template = "loop_order_ref.cu.tmpl" },
  -- Sums of random signs: their errors are of a few bits of the largest.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 8 and 1e-12 or 2e-5",
}
