-- Product of two row-major matrices: c[i][j] = sum of a[i][l] * b[l][j], c being m x n and l running
-- to k. Every element of a and b is used thousands of times; what differs is from where.
local at = require "autotune"

-- A tile whose threads have eight lines, of which more than one is in shared memory.
local function tile(tile_m, tile_n, tile_k, thread_n, staging, stages, registers, overhead)
  return {
    algorithm = "tile", tile_m = tile_m, tile_n = tile_n, tile_k = tile_k, thread_m = 8, thread_n = thread_n, lanes_m = 4,
    layout_a = "columns", pad = 4, vec = 4, staging = staging, stages = stages, unroll = tile_k, registers = registers,
    group = (stages > 2 or overhead > 0) and 8 or 1, overhead = overhead,
  }
end

-- Blocks of a cluster may share the products of a tile of c, so that the GPU's multiprocessors are busy where it has
-- few tiles, or a few more than in so many rounds. As many do as make the busiest multiprocessor's time the least. For
-- each tile along k that takes a turn of each warp, and `overhead` turns at the barrier of the blocks that it has at a
-- time; in the end each block takes as long as `overhead` tiles along k to add up what the others have.
local function time_of(parts)
  local load = ("cluster_load(device.sm_count, tiles, %d, resident)"):format(parts)
  local turns = load .. " * threads // 32"
  return ("ceil_div(tiles_k, %d) * (%s + overhead * ceil_div(%s, resident)) + overhead * %s"):format(
    parts, turns, load, turns)
end

-- For 1 to 8 parts: eight times that, plus the number of parts less one.
local times = {}
for parts = 1, 8 do times[parts] = ("8 * (%s) + %d"):format(time_of(parts), parts - 1) end

return at.pattern {
  name = "matmul",
  summary = "Product of two row-major matrices",
  problem = { m = 4096, n = 4096, k = 4096, dtype = "float" },
  ragged = { m = 140, n = 308, k = 148 },
  simulated = { m = 256, n = 256, k = 64 },

  space = {
    -- naive: a thread reads all it needs; one_operand: a tile of a in shared memory; tile: both.
    algorithm = { "naive", "one_operand", "tile" },
    tile_m = at.when("algorithm == 'one_operand'", at.pow2(8, 64), at.pow2(8, 128)), -- lines of c
    tile_n = at.when("algorithm == 'one_operand'", at.pow2(16, 64), at.pow2(16, 256)), -- columns
    tile_k = at.when("algorithm == 'naive'", 8, -- products that it adds between two barriers
                     at.when("algorithm == 'one_operand'", 16, { 8, 16, 32 })),
    thread_m = at.when("algorithm == 'naive'", 1, -- lines that a thread computes
                       at.when("algorithm == 'one_operand'", { 1, 2, 4 }, { 1, 2, 4, 8 })),
    thread_n = at.when("algorithm == 'naive'", 1, -- columns
                       at.when("algorithm == 'one_operand'", { 1, 2, 4 }, { 1, 2, 4, 8, 16 })),
    lanes_m = at.when("algorithm == 'naive'", 2, { 2, 4, 8 }), -- lanes of a warp along the lines; others: columns
    layout_a = at.when("algorithm == 'tile'", { "columns", "rows" }), -- a thread's lines, or its products, are neighbours
    pad = at.when("algorithm == 'tile'", { 0, 4 }, 0),
    -- Elements of a load from global memory, as far as they divide a line of the matrix.
    vec = at.when("algorithm == 'tile'", { 1, 2, 4 }, 1),
    -- direct: loads, barrier, products, barrier; registers: loads of the next tile are on their way
    -- during the products; async: copies that pass no register are.
    staging = at.when("algorithm == 'tile'", { "direct", "registers", "async" }, "direct"),
    stages = at.when("staging == 'async'", { 2, 3, 4 }, -- tiles in shared memory at a time
                     at.when("staging == 'registers'", { 1, 2 }, 1)),
    unroll = at.when("algorithm == 'naive'", { 1, 4 }, at.when("algorithm == 'one_operand'", { 4, 8, 16, 32 }, { 1, 4, 8, 16, 32 })),
    registers = at.when("large", { 64, 96, 128, 168, 255 }, 255), -- that a thread may have
    group = at.when("algorithm == 'tile'", { 1, 8 }, 1), -- width of the bands in which blocks take the tiles of c
    overhead = at.when("large and device.major >= 9", { 0, 2, 6 }, 0), -- of sharing; 0: no tile is shared
  },
  derived = {
    vec_a = "min(vec, k & -k)",
    vec_b = "min(vec, n & -n)",
    threads = "tile_m // thread_m * (tile_n // thread_n)",
    work = "thread_m * thread_n", -- elements of c of a thread
    large = "algorithm == 'tile' and (work >= 32 or staging ~= 'direct')",
    small = "algorithm == 'tile' and work < 32 and staging == 'direct'",
    square_lanes = "tile_n // thread_n < 16 and 4 or 2", -- that make a warp's tile as square as its thread's
    tiles = "ceil_div(m, tile_m) * ceil_div(n, tile_n)", -- of c
    tiles_k = "ceil_div(k, tile_k)",
    -- Elements of a stage: a tile of a, with pad, and one of b.
    tile_a = "layout_a == 'rows' and tile_m * (tile_k + pad) or tile_k * (tile_m + pad)",
    tile_b = "algorithm == 'tile' and tile_k * tile_n or 0",
    stage_bytes = "algorithm ~= 'naive' and stages * (tile_a + tile_b) * sizeof(dtype) or 0",
    tile_bytes = "overhead > 0 and tile_m * tile_n * sizeof(dtype) or 0", -- that others of a block's cluster read
    -- Blocks that a multiprocessor has room for; of shared memory each takes 1 KiB more.
    resident = "max(1, min(device.registers_per_sm // (threads * registers), "
      .. "device.shared_per_sm // (max(stage_bytes, tile_bytes) + 1024)))",
    -- Of tiles for more than 8 rounds the last matters little.
    parts = ("overhead > 0 and tiles <= 8 * device.sm_count * resident and min(min(%s) %% 8 + 1, tiles_k) or 1"):format(
      table.concat(times, ", ")),
    shared_bytes = "max(stage_bytes, parts > 1 and tile_bytes or 0)",
  },
  choose_by = { waves = "tiles * parts / (device.sm_count * resident)" },
  where = {
    "is_float(dtype) and sizeof(dtype) >= 4",
    "vec * sizeof(dtype) <= 16",
    "unroll <= tile_k",
    "max(shared_bytes, tile_bytes) <= device.max_shared_per_block",
    "staging ~= 'async' or device.major >= 8 and vec * sizeof(dtype) >= 4",

    -- Whole warps, and all threads have the same share when they load; what is turned round on its way is copied by
    -- single elements.
    "threads >= 64 and threads <= 1024",
    "tile_m % (thread_m * lanes_m) == 0",
    "tile_n % (thread_n * (32 // lanes_m)) == 0",
    "algorithm == 'naive' or tile_m * tile_k % ((staging == 'async' and layout_a == 'columns' and 1 or vec) * threads) == 0",
    "algorithm ~= 'tile' or tile_k * tile_n % (vec * threads) == 0 and tile_n // vec <= threads",
    -- Lines of 16-byte vectors would all start in the same bank.
    "layout_a == 'columns' or pad == 4 and vec * sizeof(dtype) == 16 and staging ~= 'direct'",

    -- A few thousand are enough: large tiles with much work for a thread are what pays; of small ones
    -- a few show that.
    "work <= 128 and thread_n <= 2 * thread_m",
    "not small or tile_m == tile_n and tile_m <= 64 and thread_m == thread_n and vec <= thread_n",
    "not small or tile_k == 16 and layout_a == 'columns' and group == 1 and lanes_m == (square_lanes)",
    "not large or work >= 16 and thread_m <= 2 * thread_n and threads <= 256 and (threads >= 128 or work <= 64)",
    "not large or work < 64 and tile_m <= tile_n or work >= 64 and tile_m >= 64 and tile_n >= 64",
    "not large or work > 16 or tile_m * tile_n <= 2048",
    "not large or vec * sizeof(dtype) == 16 and tile_k <= 16 and lanes_m >= 4",
    "not large or unroll == tile_k or unroll == 4 and work >= 64",
    "not large or staging ~= 'direct' or unroll == tile_k and group == 1 and work >= 64 and overhead == 0",
    "not large or (work < 128 or staging ~= 'direct') and (pad == 4 or staging == 'direct')",
    "not large or group == 8 or stages == 2 and overhead == 0",
    -- Those for its elements of c and as many more for what it reads, or twice as many.
    "not large or registers >= work + 48 and registers <= 2 * work + 64 or work == 128 and registers == 255",
    "algorithm ~= 'tile' or unroll ~= 4 or staging == 'direct' or group == 8",
    "stages < 4 or tile_k == 8 or work == 16",
    "algorithm ~= 'one_operand' or thread_m == thread_n and tile_m == tile_n and lanes_m == (square_lanes)",
  },
  baseline = { tile_m = 16 },
  -- Tiles as hand-tuned products of floats have them (CUTLASS's SIMT kernels, MAGMA), from small to large.
  starts = {
    tile(32, 64, 8, 4, "async", 4, 96, 2), tile(64, 64, 8, 4, "async", 4, 96, 2), tile(64, 128, 16, 8, "async", 2, 168, 2),
    tile(64, 128, 16, 8, "async", 2, 128, 0), tile(128, 128, 8, 8, "registers", 2, 128, 0),
    tile(128, 128, 8, 16, "registers", 2, 255, 0), tile(128, 256, 16, 16, "registers", 2, 255, 0),
  },

  buffers = {
    a = at.input { dtype = "dtype", count = "m * k", shape = { "m", "k" } },
    b = at.input { dtype = "dtype", count = "k * n", shape = { "k", "n" } },
    c = at.output { dtype = "dtype", count = "m * n", shape = { "m", "n" } },
  },
  kernel = {
    template = "matmul.cu.tmpl",
    entry = "matmul",
    args = { "a", "b", "c" },
    shared = "shared_bytes > 48 * 1024 and shared_bytes or 0",
  },
  -- Two blocks find room everywhere, more only together within a GPC, unless one multiprocessor may have several.
  launch = { grid = "tiles * parts", block = "threads", cluster = "parts", balanced = "parts > 2" },
  traffic = "(m * k + k * n + m * n) * sizeof(dtype)",
  flops = "2 * m * n * k",
  ceiling = "dtype == 'double' and 'fp64' or 'fp32'",
  reference = at.reference { template = "matmul_ref.cu.tmpl" },
  -- Sums of k products, in another order.
  tolerance = "dtype == 'double' and 1e-12 or 2e-5",
}
