-- Product of two row-major matrices: c[i][j] = sum of a[i][l] * b[l][j], c being m x n and l running
-- to k. Every element of a and b is used thousands of times; what differs is from where.
local at = require "autotune"

-- What large tiles have in common: a thread has eight lines and more than one tile is in shared memory.
local function register_tile(t)
  t.algorithm, t.thread_m, t.lanes_m, t.layout_a = t.algorithm or "tile", 8, 4, "columns"
  t.pad, t.vec, t.unroll = 4, 4, t.tile_k
  t.stages, t.group = t.stages or 2, t.group or 1
  return t
end

-- Blocks of a cluster may share the products of a tile of c, so that the GPU's multiprocessors are busy where it
-- has few tiles, or a few more than in so many rounds. How many do, and which tile fits a product, follows from an
-- estimate of the time, whose unit is an addition to each element of one:
--
-- - The multiprocessor with most blocks decides. For each product along k those that have their registers at a time
--   wait together, as long as 4096 additions take, or 6144 where they copy what is next themselves.
-- - All of a multiprocessor add to their elements after they have brought a line of the tile of a, one element at a
--   time (24 each), and one of b (12); four warps keep it busy.
-- - In the end blocks add up what the others have (32 an element), or one stores what it has alone, which costs
--   where lines of c are no whole vectors (256).
--
-- The constants were fitted to three H200s' times of 72 products of floats, of 128 to 4096 lines, columns and
-- products, on twelve tiles of 32x64 to 128x256 with 1 to 8 parts each: of a tile what is chosen is 1.5 % slower in
-- the mean than the best of the eight, 10 % at the 95th percentile. Other GPUs were not timed.
local function time_of(parts, t)
  local load = ("cluster_load(device.sm_count, %s, %d, %s)"):format(t.tiles, parts, t.resident)
  local line = ("%s * %s + 24 * %s + 12 * %s"):format(t.lines, t.columns, t.lines, t.columns)
  return ("ceil_div(ceil_div(k, %s), %d) * %s * (%s * ceil_div(%s, %s) + max(%s, %s) * (%s))"):format(
    t.depth, parts, t.depth, t.latency, load, t.resident, load, t.fewest, line)
    .. (" + %s * %s * %s * %s"):format(load, t.lines, t.columns, parts > 1 and "32" or "(vec_b == 4 and 0 or 256)")
end

-- The place of the least of some texts' values, from 0: eight at a time are compared.
local function place_of_least(texts)
  local marked, groups = {}, {}
  for i, text in ipairs(texts) do marked[i] = ("%d * (%s) + %d"):format(#texts, text, i - 1) end
  for i = 1, #marked, 8 do
    groups[#groups + 1] = ("min(%s)"):format(table.concat(marked, ", ", i, math.min(i + 7, #marked)))
  end
  return ("min(%s) %% %d"):format(table.concat(groups, ", "), #texts)
end

local MOST_PARTS = 8

-- The number of parts with which a tile takes least, from 0.
local function least_parts(t)
  local times = {}
  for parts = 1, MOST_PARTS do times[parts] = time_of(parts, t) end
  return place_of_least(times)
end

-- Tiles of which one fits most products of floats, and of `share` percent of their estimate's time: of 64 others, what
-- is chosen among them, with its number of parts, takes 3.3 % longer in the mean than the best of some 140 variants.
local fitting = {
  { lines = 32, columns = 64, depth = 8, own_lines = 8, own_columns = 4, copies = 4, share = 98 },
  { lines = 32, columns = 128, depth = 16, own_lines = 4, own_columns = 8, copies = 3, share = 96 },
  { lines = 64, columns = 128, depth = 16, own_lines = 8, own_columns = 8, copies = 2, share = 104 },
  { lines = 128, columns = 64, depth = 16, own_lines = 8, own_columns = 8, copies = 2, share = 94, staging = "registers" },
}
for _, f in ipairs(fitting) do f.staging = f.staging or "async" end

-- The place of the one that takes least, times MOST_PARTS, plus that of its number of parts; clusters are of 9.0 on.
local function best_fit()
  local times, alone = {}, {}
  for _, f in ipairs(fitting) do
    local threads = f.lines // f.own_lines * (f.columns // f.own_columns)
    local t = {
      lines = f.lines, columns = f.columns, depth = f.depth, latency = f.staging == "async" and 4096 or 6144,
      tiles = ("ceil_div(m, %d) * ceil_div(n, %d)"):format(f.lines, f.columns),
      resident = ("max(2, device.registers_per_sm // %d)"):format(threads * (2 * f.own_lines * f.own_columns + 32)),
      fewest = math.max(128 // threads, 1),
    }
    for parts = 1, MOST_PARTS do times[#times + 1] = ("%d * (%s)"):format(f.share, time_of(parts, t)) end
    alone[#alone + 1] = times[#times - MOST_PARTS + 1]
  end
  return ("device.major >= 9 and %s or %d * (%s)"):format(place_of_least(times), MOST_PARTS, place_of_least(alone))
end

-- Of a tile that fits what the table says, of another `parameter`.
local function fitted(field, parameter)
  local cases = {}
  for i, f in ipairs(fitting) do
    local v = type(f[field]) == "string" and ("'%s'"):format(f[field]) or f[field]
    cases[i] = (i < #fitting and ("best_fit // %d == %d and "):format(MOST_PARTS, i - 1) or "") .. v
  end
  return ("algorithm == 'fit' and (%s) or %s"):format(table.concat(cases, " or "), parameter)
end

-- What a tile that fits has instead of what its parameters say.
local function unless_fit(nominal, otherwise) return at.when("algorithm == 'fit'", nominal, otherwise) end

return at.pattern {
  name = "matmul",
  summary = "Product of two row-major matrices",
  problem = { m = 4096, n = 4096, k = 4096, dtype = "float" },
  ragged = { m = 140, n = 308, k = 148 },
  simulated = { m = 256, n = 256, k = 64 },

  space = {
    -- naive: a thread reads all it needs; one_operand: a tile of a in shared memory; tile: both; fit: both, on a tile
    -- that follows from the problem (what it says of tile, thread, staging, stages and unroll is not read).
    algorithm = { "naive", "one_operand", "tile", "fit" },
    tile_m = unless_fit(64, at.when("algorithm == 'one_operand'", at.pow2(8, 64), at.pow2(8, 128))), -- lines of c
    tile_n = unless_fit(64, at.when("algorithm == 'one_operand'", at.pow2(16, 64), at.pow2(16, 256))), -- columns
    tile_k = at.when("algorithm == 'naive' or algorithm == 'fit'", 8, -- products that it adds between two barriers
                     at.when("algorithm == 'one_operand'", 16, { 8, 16, 32 })),
    thread_m = at.when("algorithm == 'naive'", 1, -- lines that a thread computes
                       unless_fit(8, at.when("algorithm == 'one_operand'", { 1, 2, 4 }, { 1, 2, 4, 8 }))),
    thread_n = at.when("algorithm == 'naive'", 1, -- columns
                       unless_fit(4, at.when("algorithm == 'one_operand'", { 1, 2, 4 }, { 1, 2, 4, 8, 16 }))),
    -- Lanes of a warp along the lines; the others along columns.
    lanes_m = at.when("algorithm == 'naive'", 2, unless_fit(4, { 2, 4, 8 })),
    -- Of the tile of a: a thread's lines, or its products, are neighbours.
    layout_a = at.when("algorithm == 'tile' or algorithm == 'fit'", { "columns", "rows" }),
    pad = at.when("algorithm == 'tile'", { 0, 4 }, unless_fit(4, 0)),
    -- Elements of a load from global memory, as far as they divide a line of the matrix.
    vec = at.when("algorithm == 'tile'", { 1, 2, 4 }, unless_fit(4, 1)),
    -- direct: loads, barrier, products, barrier; registers: loads of the next tile are on their way
    -- during the products; async: copies that pass no register are.
    staging = at.when("algorithm == 'tile'", { "direct", "registers", "async" }, unless_fit("async", "direct")),
    stages = unless_fit(4, at.when("staging == 'async'", { 2, 3, 4 }, -- tiles in shared memory at a time
                                   at.when("staging == 'registers'", { 1, 2 }, 1))),
    unroll = at.when("algorithm == 'naive'", { 1, 4 },
                     unless_fit(8, at.when("algorithm == 'one_operand'", { 4, 8, 16, 32 }, { 1, 4, 8, 16, 32 }))),
    min_blocks = at.when("algorithm == 'tile'", { 1, 2 }, unless_fit(2, 1)), -- that an SM must have registers for
    -- Width of the bands in which blocks take the tiles of c.
    group = at.when("algorithm == 'tile'", { 1, 8 }, unless_fit(8, 1)),
  },
  derived = {
    vec_a = "min(vec, k & -k)",
    vec_b = "min(vec, n & -n)",
    best_fit = best_fit(),
    lines = fitted("lines", "tile_m"),
    columns = fitted("columns", "tile_n"),
    depth = fitted("depth", "tile_k"),
    own_lines = fitted("own_lines", "thread_m"),
    own_columns = fitted("own_columns", "thread_n"),
    copied = fitted("staging", "staging"),
    copies = fitted("copies", "stages"),
    threads = "tile_m // thread_m * (tile_n // thread_n)",
    work = "thread_m * thread_n", -- elements of c of a thread
    small = "algorithm == 'tile' and work < 32",
    large = "algorithm == 'fit' or algorithm == 'tile' and work >= 32",
    -- Lanes that make a warp's tile as square as its thread's.
    square_lanes = "tile_n // thread_n < 16 and 4 or 2",
    block = "lines // own_lines * (columns // own_columns)", -- threads
    tiles = "ceil_div(m, lines) * ceil_div(n, columns)", -- of c
    tiles_k = "ceil_div(k, depth)",
    -- Elements of a stage: a tile of a, with pad, and one of b.
    tile_a = "layout_a == 'rows' and lines * (depth + pad) or depth * (lines + pad)",
    tile_b = "(algorithm == 'tile' or algorithm == 'fit') and depth * columns or 0",
    stage_bytes = "algorithm ~= 'naive' and copies * (tile_a + tile_b) * sizeof(dtype) or 0",
    -- What a block has of its tile of c, which others of its cluster read.
    tile_bytes = "lines * columns * sizeof(dtype)",
    -- Blocks that a multiprocessor has room for: a thread takes two registers an element, and some.
    resident = "max(min_blocks, min(device.registers_per_sm // (block * (2 * own_lines * own_columns + 32)), "
      .. "device.shared_per_sm // (max(stage_bytes, tile_bytes) + 1024)))",
    best_parts = least_parts {
      lines = "tile_m", columns = "tile_n", depth = "tile_k", tiles = "tiles", resident = "resident",
      latency = "(staging == 'async' and 4096 or 6144)", fewest = "max(128 // threads, 1)",
    } .. " + 1",
    -- Of tiles for more than 8 rounds the last matters little.
    shareable = "large and device.major >= 9 and tiles <= 8 * device.sm_count and "
      .. "tile_bytes <= min(device.max_shared_per_block, device.shared_per_sm // min_blocks - 1024)",
    -- Blocks that share a tile of c.
    parts = ("shareable and "
      .. "min(algorithm == 'fit' and best_fit %% %d + 1 or best_parts, tiles_k) or 1"):format(MOST_PARTS),
    shared_bytes = "max(stage_bytes, parts > 1 and tile_bytes or 0)",
  },
  where = {
    "is_float(dtype) and sizeof(dtype) >= 4",
    "algorithm ~= 'fit' or sizeof(dtype) == 4", -- nothing else was timed
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
      algorithm = "fit", tile_m = 64, tile_n = 64, tile_k = 8, thread_n = 4, staging = "async", stages = 4,
      min_blocks = 2, group = 8,
    },
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
  -- Two blocks find room everywhere, more only together within a GPC, unless one multiprocessor may have several.
  launch = { grid = "tiles * parts", block = "block", cluster = "parts", balanced = "parts > 2" },
  traffic = "(m * k + k * n + m * n) * sizeof(dtype)",
  flops = "2 * m * n * k",
  ceiling = "dtype == 'double' and 'fp64' or 'fp32'",
  reference = at.reference { template = "matmul_ref.cu.tmpl" },
  -- Sums of k products, in another order.
  tolerance = "dtype == 'double' and 1e-12 or 2e-5",
}
