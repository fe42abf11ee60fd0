-- Product of two row-major matrices: c[i][j] = sum of a[i][l] * b[l][j], where c is m x n and l runs to k. Every
-- element of a and b is used thousands of times; variants differ in the memory that they read it from.
local at = require "autotune"

-- A start of the search: a tile of c whose threads have 8 lines each.
local function tile(tile_m, tile_n, tile_k, registers, overhead)
  return { algorithm = "tile", tile_m = tile_m, tile_n = tile_n, tile_k = tile_k, thread_m = 8, thread_n = tile_n // 16,
           lanes_m = 4, pad = 4, vec = 4, staging = "registers", stages = 2, unroll = tile_k, registers = registers,
           overhead = overhead }
end

-- The busiest multiprocessor's time if `parts` blocks of a cluster share the products of each tile of c. The unit is the
-- time that a warp needs for a tile along k. A barrier of the cluster, and the sum at the end, cost `overhead` units.
local function time_of(parts)
  local turns = ("cluster_load(device.sm_count, tiles, %d, resident) * threads // 32"):format(parts)
  return ("ceil_div(tiles_k, %d) * (%s + overhead * ceil_div(%s, resident)) + overhead * %s"):format(
    parts, turns, turns, turns)
end

-- The smallest of these numbers holds the best number of parts, minus 1, in its lowest three bits.
local times = {}
for parts = 1, 8 do times[parts] = ("8 * (%s) + %d"):format(time_of(parts), parts - 1) end

return at.pattern {
  name = "matmul", summary = "Product of two row-major matrices",
  problem = { m = 4096, n = 4096, k = 4096, dtype = "float" },
  ragged = { m = 140, n = 308, k = 148 }, simulated = { m = 256, n = 256, k = 64 },

  space = {
    -- naive: a thread reads all it needs from global memory. one_operand: a tile of a is in shared memory. tile: both are.
    algorithm = { "naive", "one_operand", "tile" },
    tile_m = at.when("algorithm == 'tile'", { 32, 64, 128 }, { 8, 16, 32 }),  -- lines of c in a block's tile
    tile_n = at.when("algorithm == 'tile'", { 64, 128, 256 }, { 16, 32, 64 }), -- columns of that tile
    tile_k = at.when("algorithm == 'tile'", { 8, 16 }, 16), -- products between two barriers
    -- lines of c of a thread
    thread_m = at.when("algorithm == 'naive'", 1, at.when("algorithm == 'tile'", { 4, 8 }, { 1, 2, 4 })),
    -- columns of c of a thread
    thread_n = at.when("algorithm == 'naive'", 1, at.when("algorithm == 'tile'", { 4, 8, 16 }, { 1, 2, 4 })),
    lanes_m = at.when("algorithm == 'tile'", 4, 2), -- lanes of a warp along the lines; the others lie along the columns
    layout_a = at.when("algorithm == 'tile'", { "columns", "rows" }), -- neighbours in shared memory: lines, or products
    pad = at.when("algorithm == 'tile'", 4, 0), -- elements after each line of a in shared memory
    vec = at.when("algorithm == 'tile'", 4, 1), -- elements of a load, if 16 bytes hold them and they divide a line
    -- direct: loads, barrier, products, barrier. registers: the next tile's loads are in flight during the products.
    -- async: so are asynchronous copies, which use no registers.
    staging = at.when("algorithm == 'tile'", { "direct", "registers", "async" }, "direct"),
    -- tiles in shared memory
    stages = at.when("staging == 'async'", { 2, 3, 4 }, at.when("staging == 'registers'", { 1, 2 }, 1)),
    unroll = at.when("algorithm == 'tile'", { 8, 16 }, { 1, 4, 16 }),
    registers = at.when("algorithm == 'tile'", { 64, 96, 128, 168, 255 }, 255), -- register limit of a thread
    group = at.when("algorithm == 'tile'", { 1, 8 }, 1), -- tiles of c across a band; blocks take band after band
    -- whether blocks of a cluster share a tile; 0 if they do not
    overhead = at.when("algorithm == 'tile' and device.major >= 9", { 0, 2 }, 0),
  },
  derived = {
    vec_a = "min(vec, 16 // sizeof(dtype), k & -k)", vec_b = "min(vec, 16 // sizeof(dtype), n & -n)",
    threads = "tile_m // thread_m * (tile_n // thread_n)",
    work = "thread_m * thread_n", -- elements of c of a thread
    -- tiles of c, and tiles along k
    tiles = "ceil_div(m, tile_m) * ceil_div(n, tile_n)", tiles_k = "ceil_div(k, tile_k)",
    -- Elements of a stage: a tile of a, with pad, and one of b.
    tile_a = "layout_a == 'rows' and tile_m * (tile_k + pad) or tile_k * (tile_m + pad)",
    tile_b = "algorithm == 'tile' and tile_k * tile_n or 0",
    stage_bytes = "algorithm ~= 'naive' and stages * (tile_a + tile_b) * sizeof(dtype) or 0",
    tile_bytes = "overhead > 0 and tile_m * tile_n * sizeof(dtype) or 0", -- tiles of c that the cluster's blocks read
    -- Blocks that fit a multiprocessor. The hardware takes 1 KiB of shared memory more for each.
    resident = "max(1, min(device.registers_per_sm // (threads * registers), "
      .. "device.shared_per_sm // (max(stage_bytes, tile_bytes) + 1024)))",
    -- Beyond 8 rounds of tiles the last round matters little.
    parts = ("overhead > 0 and tiles <= 8 * device.sm_count * resident and min(min(%s) %% 8 + 1, tiles_k) or 1"):format(
      table.concat(times, ", ")),
    shared_bytes = "max(stage_bytes, parts > 1 and tile_bytes or 0)",
  },
  choose_by = { waves = "tiles * parts / (device.sm_count * resident)" },
  where = {
    "is_float(dtype) and sizeof(dtype) >= 4",
    "max(shared_bytes, tile_bytes) <= device.max_shared_per_block",
    "staging ~= 'async' or device.major >= 8",
    -- A block has whole warps, and all its threads load the same number of vectors.
    "threads >= 64 and threads <= 1024",
    "tile_m % (thread_m * lanes_m) == 0 and tile_n % (thread_n * (32 // lanes_m)) == 0",
    "algorithm == 'naive' or tile_m * tile_k % ((staging == 'async' and layout_a == 'columns' and 1 or vec) * threads) == 0",
    "algorithm ~= 'tile' or tile_k * tile_n % (vec * threads) == 0 and tile_n // vec <= threads",
    "layout_a == 'columns' or staging ~= 'direct'",
    "algorithm ~= 'tile' or unroll == tile_k", -- the loop over a tile is fully unrolled
    -- With fewer registers than this, sums spill; with more, fewer blocks are resident without a benefit.
    "algorithm ~= 'tile' or registers >= work + 48 and (registers <= 2 * work + 64 or work == 128)",
  },
  baseline = { tile_m = 16 },
  -- Tiles of hand-tuned products of floats (CUTLASS's SIMT kernels, MAGMA), from small to large.
  starts = { tile(32, 64, 8, 96, 2), tile(64, 128, 16, 168, 2), tile(128, 128, 8, 128, 0), tile(128, 256, 16, 255, 0) },

  buffers = {
    a = at.input { dtype = "dtype", count = "m * k", shape = { "m", "k" } },
    b = at.input { dtype = "dtype", count = "k * n", shape = { "k", "n" } },
    c = at.output { dtype = "dtype", count = "m * n", shape = { "m", "n" } },
  },
  kernel = { template = "matmul.cu.tmpl", entry = "matmul", args = { "a", "b", "c" },
             shared = "shared_bytes > 48 * 1024 and shared_bytes or 0" },
  -- A cluster of two blocks always fits. Larger clusters must fit into a GPC, unless a multiprocessor can hold several
  -- of their blocks.
  launch = { grid = "tiles * parts", block = "threads", cluster = "parts", balanced = "parts > 2" },
  traffic = "(m * k + k * n + m * n) * sizeof(dtype)", flops = "2 * m * n * k",
  ceiling = "dtype == 'double' and 'fp64' or 'fp32'",
  reference = at.reference { template = "matmul_ref.cu.tmpl" },
  tolerance = "dtype == 'double' and 1e-12 or 2e-5", -- sums of k products, in another order
}
