-- Product of two row-major matrices: c[i][j] = sum of a[i][l] * b[l][j], c being m x n and l running
-- to k. Every element of a and b is used thousands of times; what differs is from where.
local at = require "autotune"

-- What large tiles have in common: a thread has eight lines and more than one tile is in shared memory.
local function register_tile(t)
  t.algorithm, t.thread_m, t.lanes_m, t.layout_a = "tile", 8, 4, "columns"
  t.pad, t.vec, t.unroll = 4, 4, t.tile_k
  t.stages, t.group = t.stages or 2, t.group or 1
  return t
end

-- Blocks of a cluster may share the products of a tile of c, so that the GPU's multiprocessors are busy where it
-- has few tiles, or a few more than in so many rounds. How many do follows from an estimate of the time, whose unit
-- is an addition to each element of one:
--
-- - The multiprocessor with most blocks decides. A cluster lies within a GPC, of 16 multiprocessors, the last of 12;
--   two blocks find room everywhere.
-- - For each product along k a block waits as long as 4096 additions take, or 8192 if it copies what is next itself.
--   Those that have their registers at a time wait together, and all of a multiprocessor add to their elements after
--   they have brought a line of the tile of a, one element at a time (24 each), and one of b (8); four warps keep
--   it busy.
-- - In the end blocks add up what the others have (40 an element), or one stores what it has alone, which costs
--   where lines of c are no whole vectors (200).
--
-- The constants were fitted to two H200's times of 160 products of floats, of 128 to 4096 lines, columns and products,
-- on tiles of 64x64 to 128x256 with 1 to 8 parts each: of a tile what is chosen is 1.8 % slower in the mean than the
-- best of the eight, 11 % at the 95th percentile; one block for each tile takes 2.1 times as long in the
-- mean. Other GPUs were not timed.
local function time_of(parts)
  local rounds = ("ceil_div(%d * tiles, device.sm_count)"):format(parts)
  if parts > 2 then
    rounds = ("ceil_div(%d * tiles, 16 * gpcs + 12)"):format(parts)
    rounds = ("(%s + (gpcs * (16 * %s // %d) + 12 * %s // %d < tiles and 1 or 0))"):format(
      rounds, rounds, parts, rounds, parts)
  end
  return ("ceil_div(tiles_k, %d) * tile_k * (latency * ceil_div(%s, resident) + max(%s, fewest) * line)"):format(
    parts, rounds, rounds) .. (" + %s * tile_m * tile_n * %s"):format(
    rounds, parts > 1 and "40" or "(vec_b == vec and 0 or 200)")
end

-- The place of the least of some texts' values, from 1.
local function place_of_least(texts)
  local marked = {}
  for i, text in ipairs(texts) do marked[i] = ("%d * (%s) + %d"):format(#texts, text, i - 1) end
  return ("min(%s) %% %d + 1"):format(table.concat(marked, ", "), #texts)
end

local times = {}
for parts = 1, 8 do times[parts] = time_of(parts) end

return at.pattern {
  name = "matmul",
  summary = "Product of two row-major matrices",
  problem = { m = 4096, n = 4096, k = 4096, dtype = "float" },
  ragged = { m = 140, n = 308, k = 148 },
  simulated = { m = 256, n = 256, k = 64 },

  space = {
    -- naive: a thread reads all it needs; one_operand: a tile of a in shared memory; tile: both.
    algorithm = { "naive", "one_operand", "tile" },
    tile_m = at.when("algorithm == 'one_operand'", at.pow2(8, 64), at.pow2(8, 128)),  -- lines of c of a block
    tile_n = at.when("algorithm == 'one_operand'", at.pow2(16, 64), at.pow2(16, 256)), -- columns
    tile_k = at.when("algorithm == 'naive'", 8, -- products of each that it adds between two barriers
                     at.when("algorithm == 'one_operand'", 16, { 8, 16, 32 })),
    thread_m = at.when("algorithm == 'naive'", 1, -- lines that a thread computes
                       at.when("algorithm == 'one_operand'", { 1, 2, 4 }, { 1, 2, 4, 8 })),
    thread_n = at.when("algorithm == 'naive'", 1, -- columns
                       at.when("algorithm == 'one_operand'", { 1, 2, 4 }, { 1, 2, 4, 8, 16 })),
    -- Lanes of a warp along the lines; the others along columns.
    lanes_m = at.when("algorithm == 'naive'", 2, { 2, 4, 8 }),
    -- Of the tile of a: a thread's lines, or its products, are neighbours.
    layout_a = at.when("algorithm == 'tile'", { "columns", "rows" }),
    pad = at.when("algorithm == 'tile'", { 0, 4 }),
    -- Elements of a load from global memory, as far as they divide a line of the matrix.
    vec = at.when("algorithm == 'tile'", { 1, 2, 4 }),
    -- direct: loads, barrier, products, barrier; registers: loads of the next tile are on their way
    -- during the products; async: copies that pass no register are.
    staging = at.when("algorithm == 'tile'", { "direct", "registers", "async" }),
    stages = at.when("staging == 'async'", { 2, 3, 4 }, -- tiles in shared memory at a time
                     at.when("staging == 'registers'", { 1, 2 }, 1)),
    unroll = at.when("algorithm == 'naive'", { 1, 4 },
                     at.when("algorithm == 'one_operand'", { 4, 8, 16, 32 }, { 1, 4, 8, 16, 32 })),
    min_blocks = at.when("algorithm == 'tile'", { 1, 2 }), -- that an SM must have registers for
    group = at.when("algorithm == 'tile'", { 1, 8 }), -- width of the bands in which blocks take the tiles of c
  },
  derived = {
    vec_a = "min(vec, k & -k)",
    vec_b = "min(vec, n & -n)",
    threads = "tile_m // thread_m * (tile_n // thread_n)",
    work = "thread_m * thread_n", -- elements of c of a thread
    small = "algorithm == 'tile' and work < 32",
    large = "algorithm == 'tile' and work >= 32",
    -- Lanes that make a warp's tile as square as its thread's.
    square_lanes = "tile_n // thread_n < 16 and 4 or 2",
    tiles = "ceil_div(m, tile_m) * ceil_div(n, tile_n)", -- of c
    tiles_k = "ceil_div(k, tile_k)",
    gpcs = "max(device.sm_count // 16 - 1, 0)", -- without the last
    latency = "staging == 'async' and 4096 or 8192",
    -- Blocks that a multiprocessor has registers for: a thread takes two an element, and some.
    resident = "max(min_blocks, device.registers_per_sm // (threads * (2 * work + 24)))",
    fewest = "max(128 // threads, 1)", -- blocks that keep it busy
    line = "tile_m * tile_n + 24 * tile_m + 8 * tile_n",
    best_parts = place_of_least(times),
    -- What a block has of its tile of c, which others of its cluster read.
    tile_bytes = "tile_m * tile_n * sizeof(dtype)",
    -- Of tiles for more than 8 rounds the last matters little.
    shareable = "large and device.major >= 9 and tiles <= 8 * device.sm_count and "
      .. "tile_bytes <= min(device.max_shared_per_block, device.shared_per_sm // min_blocks - 1024)",
    parts = "shareable and min(best_parts, tiles_k) or 1", -- blocks that share a tile of c
    -- Elements of a stage: a tile of a, with pad, and one of b.
    tile_a = "layout_a == 'rows' and tile_m * (tile_k + pad) or tile_k * (tile_m + pad)",
    tile_b = "algorithm == 'tile' and tile_k * tile_n or 0",
    stage_bytes = "algorithm ~= 'naive' and stages * (tile_a + tile_b) * sizeof(dtype) or 0",
    shared_bytes = "max(stage_bytes, parts > 1 and tile_bytes or 0)",
  },
  where = {
    "is_float(dtype) and sizeof(dtype) >= 4",
    "vec * sizeof(dtype) <= 16",
    "unroll <= tile_k",
    "shared_bytes <= device.max_shared_per_block",
    "shared_bytes <= device.shared_per_sm // min_blocks - 1024",
    "staging ~= 'async' or device.major >= 8 and vec * sizeof(dtype) >= 4",

    -- Whole warps, and all threads have the same share when they load.
    "threads >= 64 and threads <= 1024",
    "tile_m % (thread_m * lanes_m) == 0",
    "tile_n % (thread_n * (32 // lanes_m)) == 0",
    "algorithm == 'naive' or tile_m * tile_k % (vec * threads) == 0",
    "algorithm ~= 'tile' or tile_k * tile_n % (vec * threads) == 0 and tile_n // vec <= threads",
    -- Lines of 16-byte vectors would all start in the same bank.
    "layout_a == 'columns' or pad == 4 and vec * sizeof(dtype) == 16 and staging ~= 'direct'",

    -- A few thousand are enough: large tiles with much work for a thread are what pays; of small ones
    -- a few show that.
    "work <= 128 and thread_n <= 2 * thread_m",
    "not small or tile_m == tile_n and tile_m <= 64 and thread_m == thread_n and vec <= thread_n",
    "not small or tile_k == 16 and layout_a == 'columns' and staging == 'direct'",
    "not small or group == 1 and min_blocks == 1 and lanes_m == (square_lanes)",
    "not large or tile_m >= 64 and tile_n >= 64 and tile_m * tile_n >= 8192 or "
      .. "work == 32 and tile_n >= 64 and tile_m <= tile_n and tile_m * tile_n >= 2048 and staging ~= 'direct'",
    "not large or vec * sizeof(dtype) == 16 and tile_k <= 16 and lanes_m >= 4",
    "not large or (unroll == tile_k or unroll == 4) and threads <= 256",
    "not large or threads >= 128 or tile_m * tile_n <= 2048",
    "not large or staging ~= 'direct' or unroll == tile_k and group == 1",
    "not large or work < 128 or staging ~= 'direct' and min_blocks == 1",
    "not large or pad == 4 or staging == 'direct'",
    "not large or group == 8 or stages == 2",
    "algorithm ~= 'tile' or unroll ~= 4 or staging == 'direct' or group == 8",
    "stages < 4 or tile_k == 8",
    "algorithm ~= 'one_operand' or thread_m == thread_n and tile_m == tile_n and lanes_m == (square_lanes)",
  },
  baseline = { tile_m = 16 },
  -- Tiles as hand-tuned products of floats have them (CUTLASS's SIMT kernels, MAGMA), from small to large; the
  -- last was the fastest of all on a Hopper.
  starts = {
    register_tile {
      tile_m = 32, tile_n = 64, tile_k = 16, thread_n = 4, staging = "async", stages = 3, min_blocks = 2, group = 8,
    },
    register_tile {
      tile_m = 64, tile_n = 64, tile_k = 8, thread_n = 4, staging = "async", stages = 4, min_blocks = 1, group = 8,
    },
    register_tile { tile_m = 64, tile_n = 128, tile_k = 16, thread_n = 8, staging = "async", min_blocks = 2 },
    register_tile { tile_m = 128, tile_n = 128, tile_k = 8, thread_n = 8, staging = "registers", min_blocks = 2 },
    register_tile { tile_m = 128, tile_n = 128, tile_k = 8, thread_n = 16, staging = "registers", min_blocks = 1 },
    register_tile { tile_m = 128, tile_n = 256, tile_k = 16, thread_n = 16, staging = "registers", min_blocks = 1 },
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
  launch = { grid = "tiles * parts", block = "threads", cluster = "parts" },
  traffic = "(m * k + k * n + m * n) * sizeof(dtype)",
  flops = "2 * m * n * k",
  ceiling = "dtype == 'double' and 'fp64' or 'fp32'",
  reference = at.reference { template = "matmul_ref.cu.tmpl" },
  -- Sums of k products, in another order.
  tolerance = "dtype == 'double' and 1e-12 or 2e-5",
}
