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
-- estimate of the time of the multiprocessor with most blocks. It is the sum of
--
-- - `start`, and `share` where blocks share,
-- - for each tile along k, for all blocks that have their registers at a time: `wait`, and `add` for four warps of
--   theirs; but, where a tile fits, at least `least`, as few warps hide nothing of what they wait for,
-- - `gather`, for each block, and `meet`, for each block of its cluster: it adds up what the others have; or `scatter`:
--   there are none, and lines of c are no whole vectors.
--
-- Of what tiles along k take, `left` thousandths are where pairs or quads of elements can be copied, or where no tile
-- of c is cut. Not all blocks of a cluster have as many tiles along k: where a tile fits, half count those of the
-- busiest, half the mean.
local MOST_PARTS = 8

-- `t` has these as numbers or texts, and depth, the number of tiles, of a block's warps and of resident blocks.
local function time_of(parts, t)
  local all = ("ceil_div(k, %s)"):format(t.depth)
  local most = ("ceil_div(%s, %d)"):format(all, parts)
  local load = ("cluster_load(device.sm_count, %s, %d, %s)"):format(t.tiles, parts, t.resident)
  local function turns(blocks) return ("%s * ceil_div((%s) * %s, 4)"):format(t.add, blocks, t.warps) end
  local function round_of(blocks) return ("max(%s, %s + %s)"):format(t.least, t.wait, turns(blocks)) end
  local each = t.least
    and ("((%s - 1) // %s * %s + %s)"):format(
      load, t.resident, round_of(t.resident), round_of(("(%s - 1) %% %s + 1"):format(load, t.resident)))
    or ("(%s * ceil_div(%s, %s) + %s)"):format(t.wait, load, t.resident, turns(load))
  local along_k = ("%s * %s"):format(most, each)
  if t.left and parts == 1 then along_k = ("%s * %s * %s // 1000"):format(all, each, t.left) end
  if t.left and parts > 1 then
    along_k = ("(%d * %s + %s) * %s * %s // %d"):format(parts, most, all, each, t.left, 2000 * parts)
  end
  return ("%s + %s + %s * %s"):format(parts > 1 and t.share and t.start + t.share or t.start, along_k, load,
    parts == 1 and ("(vec_b == 4 and 0 or %s)"):format(t.scatter) or t.meet and t.gather + t.meet * parts or t.gather)
end

-- The least of any number of texts' values; a function takes eight.
local function least(texts)
  local groups = {}
  for i = 1, #texts, 8 do
    groups[#groups + 1] = ("min(%s)"):format(table.concat(texts, ", ", i, math.min(i + 7, #texts)))
  end
  return #groups == 1 and groups[1] or least(groups)
end

-- The least of the times with 1 to MOST_PARTS parts: MOST_PARTS times the time, plus the number of parts less one.
local function least_time(t)
  local times = {}
  for parts = 1, MOST_PARTS do times[parts] = ("%d * (%s) + %d"):format(MOST_PARTS, time_of(parts, t), parts - 1) end
  return least(times)
end

-- Any tile's, in additions to one element of c: what is waited for is 4096 of them, or 6144 where threads copy what is
-- next themselves; a line of the tile of a is brought in 24, one of b in 12. Fitted to two H200s' times of 64 products
-- of floats, of 128 to 4096 lines, columns and products, on twelve tiles of 32x64 to 128x256. On another H200's of 80
-- products on 14 tiles, the number of parts that is chosen is 1.2 % slower than the best of eight in the mean of tiles
-- and products. Other GPUs were not timed.
local any_tile = {
  tiles = "tiles", depth = "tile_k", warps = "(threads // 32)", resident = "resident",
  start = 0,
  wait = "(tile_k * (staging == 'async' and 4096 or 6144))",
  add = "(tile_k * (tile_m * tile_n + 24 * tile_m + 12 * tile_n) * 128 // threads)",
  gather = "(32 * tile_m * tile_n)", scatter = "256 * tile_m * tile_n",
}

-- Tiles of which one fits most products of floats, the registers that a thread may have, and what they take, in tenths
-- of a nanosecond (pairs and quads of elements of a or b, and uncut tiles of c: what is left, in thousandths). The numbers
-- are fitted to times of 168 products of all kinds on two H100s (tests/bench/product_tiles.py). Other GPUs were not timed.
local fitting = {
  {
    lines = 16, columns = 64, depth = 16, own_lines = 4, own_columns = 4, registers = 64,
    staging = "async", copies = 4, unroll = 16, layout = "columns",
    pairs_b = 904, quads_b = 795, uncut = 918,
    start = 16756, share = 8112, wait = 479, add = 3257, least = 4027,
    gather = 2453, meet = -42, scatter = 2681,
  },
  {
    lines = 32, columns = 32, depth = 8, own_lines = 4, own_columns = 4, registers = 64,
    staging = "async", copies = 4, unroll = 8, layout = "columns",
    pairs_b = 937, quads_b = 905, uncut = 1015,
    start = 16017, share = 9582, wait = 268, add = 1490, least = 2258,
    gather = 1515, meet = 23, scatter = 1965,
  },
  {
    lines = 32, columns = 32, depth = 16, own_lines = 4, own_columns = 4, registers = 64,
    staging = "async", copies = 4, unroll = 16, layout = "columns",
    pairs_b = 963, quads_b = 859, uncut = 974,
    start = 14769, share = 9916, wait = 942, add = 3138, least = 4017,
    gather = 2189, meet = -13, scatter = 2876,
  },
  {
    lines = 32, columns = 64, depth = 8, own_lines = 4, own_columns = 8, registers = 96,
    staging = "async", copies = 4, unroll = 8, layout = "columns",
    pairs_b = 910, quads_b = 855, uncut = 985,
    start = 19891, share = 9296, wait = 429, add = 2545, least = 3202,
    gather = 1467, meet = 53, scatter = 5266,
  },
  {
    lines = 32, columns = 64, depth = 8, own_lines = 4, own_columns = 4, registers = 64,
    staging = "async", copies = 4, unroll = 8, layout = "columns",
    pairs_b = 928, quads_b = 879, uncut = 1005,
    start = 16344, share = 11200, wait = 696, add = 1315, least = 2158,
    gather = 1337, meet = 87, scatter = 3743,
  },
  {
    lines = 32, columns = 128, depth = 8, own_lines = 4, own_columns = 8, registers = 96,
    staging = "async", copies = 4, unroll = 8, layout = "columns",
    pairs_b = 903, quads_b = 855, uncut = 983,
    start = 22271, share = 9236, wait = 502, add = 2438, least = 3083,
    gather = 2479, meet = 104, scatter = 15189,
  },
  {
    lines = 32, columns = 128, depth = 16, own_lines = 4, own_columns = 8, registers = 96,
    staging = "async", copies = 3, unroll = 16, layout = "columns",
    pairs_b = 880, quads_b = 814, uncut = 962,
    start = 23658, share = 7917, wait = 978, add = 4936, least = 5985,
    gather = 2244, meet = 145, scatter = 9000,
  },
  {
    lines = 64, columns = 64, depth = 8, own_lines = 4, own_columns = 8, registers = 96,
    staging = "async", copies = 4, unroll = 8, layout = "columns",
    pairs_b = 942, quads_b = 915, uncut = 1001,
    start = 24734, share = 6204, wait = 564, add = 2291, least = 2987,
    gather = 2952, meet = 83, scatter = 15145,
  },
  {
    lines = 64, columns = 64, depth = 16, own_lines = 8, own_columns = 8, registers = 168,
    staging = "async", copies = 2, unroll = 16, layout = "columns",
    pairs_b = 925, quads_b = 881, uncut = 975,
    start = 29553, share = 6819, wait = 1533, add = 8567, least = 10249,
    gather = 3114, meet = 73, scatter = 17283,
  },
  {
    lines = 64, columns = 64, depth = 16, own_lines = 8, own_columns = 4, registers = 112,
    staging = "async", copies = 2, unroll = 16, layout = "rows",
    pairs_a = 890, quads_a = 877, pairs_b = 934, quads_b = 907, uncut = 980,
    start = 28805, share = 2167, wait = 2112, add = 4547, least = 6384,
    gather = 3331, meet = 185, scatter = 10089,
  },
  {
    lines = 64, columns = 64, depth = 16, own_lines = 8, own_columns = 4, registers = 96,
    staging = "async", copies = 3, unroll = 16, layout = "rows",
    pairs_a = 882, quads_a = 870, pairs_b = 922, quads_b = 901, uncut = 1003,
    start = 23612, share = 6834, wait = 1758, add = 4900, least = 6384,
    gather = 2901, meet = 178, scatter = 13757,
  },
  {
    lines = 64, columns = 128, depth = 8, own_lines = 8, own_columns = 8, registers = 168,
    staging = "async", copies = 4, unroll = 8, layout = "columns",
    pairs_b = 911, quads_b = 888, uncut = 995,
    start = 30771, share = 5647, wait = 674, add = 4272, least = 5204,
    gather = 5013, meet = 148, scatter = 35530,
  },
  {
    lines = 64, columns = 128, depth = 16, own_lines = 8, own_columns = 8, registers = 168,
    staging = "async", copies = 2, unroll = 16, layout = "columns",
    pairs_b = 927, quads_b = 893, uncut = 979,
    start = 31742, share = 2065, wait = 1561, add = 8078, least = 9639,
    gather = 8859, meet = -129, scatter = 22161,
  },
  {
    lines = 64, columns = 128, depth = 16, own_lines = 8, own_columns = 8, registers = 168,
    staging = "registers", copies = 2, unroll = 16, layout = "columns",
    pairs_a = 951, quads_a = 896, pairs_b = 924, quads_b = 875, uncut = 972,
    start = 23834, share = 5607, wait = 2877, add = 8522, least = 10613,
    gather = 7421, meet = 535, scatter = 43396,
  },
  {
    lines = 128, columns = 64, depth = 16, own_lines = 8, own_columns = 8, registers = 168,
    staging = "async", copies = 2, unroll = 4, layout = "columns",
    pairs_b = 973, quads_b = 973, uncut = 1020,
    start = 30340, share = 1536, wait = 1458, add = 7996, least = 10408,
    gather = 11890, meet = -45, scatter = 28828,
  },
  {
    lines = 128, columns = 128, depth = 16, own_lines = 8, own_columns = 16, registers = 255,
    staging = "async", copies = 2, unroll = 4, layout = "columns",
    pairs_b = 963, quads_b = 931, uncut = 995,
    start = 18066, share = 802, wait = 3430, add = 13582, least = 19214,
    gather = 30707, meet = -72, scatter = 112945,
  },
  {
    lines = 128, columns = 256, depth = 16, own_lines = 8, own_columns = 16, registers = 255,
    staging = "registers", copies = 2, unroll = 16, layout = "columns",
    pairs_a = 923, quads_a = 874, pairs_b = 930, quads_b = 900, uncut = 954,
    start = 29878, share = 4587, wait = 5389, add = 15154, least = 19027,
    gather = 45165, meet = 199, scatter = 183606,
  },
}

-- Thousandths that are left where pairs or quads of a length can be copied.
local function left_of(length, pairs, quads)
  return ("(%s %% 4 == 0 and %d or %s %% 2 == 0 and %d or 1000)"):format(length, quads, length, pairs)
end

-- The least time of a tile that fits, as least_time() gives it. Before clusters none is shared.
local function least_fit(f)
  local threads = f.lines // f.own_lines * (f.columns // f.own_columns)
  local tile_a = f.layout == "rows" and f.lines * (f.depth + 4) or f.depth * (f.lines + 4)
  local left = ("(%s * (m %% %d == 0 and n %% %d == 0 and %d or 1000) // 1000)"):format(
    left_of("n", f.pairs_b, f.quads_b), f.lines, f.columns, f.uncut)
  if f.pairs_a then left = ("(%s * %s // 1000)"):format(left_of("k", f.pairs_a, f.quads_a), left) end
  local t = {
    tiles = ("ceil_div(m, %d) * ceil_div(n, %d)"):format(f.lines, f.columns), warps = threads // 32,
    resident = ("max(1, min(device.registers_per_sm // %d, device.shared_per_sm // %d))"):format(
      threads * f.registers, 4 * f.copies * (tile_a + f.depth * f.columns) + 1024),
    left = left,
  }
  for name, value in pairs(f) do t[name] = value end
  return ("device.major >= 9 and %s or %d * (%s)"):format(least_time(t), MOST_PARTS, time_of(1, t))
end

-- Of a tile that fits what the table says, of another `parameter`.
local function fitted(field, parameter)
  local cases = {}
  for i, f in ipairs(fitting) do
    local value = type(f[field]) == "string" and ("'%s'"):format(f[field]) or f[field]
    cases[i] = (i < #fitting and ("fit == %d and "):format(i) or "") .. value
  end
  return ("algorithm == 'fit' and (%s) or %s"):format(table.concat(cases, " or "), parameter)
end

-- What a tile that fits has instead of what its parameters say.
local function unless_fit(nominal, otherwise) return at.when("algorithm == 'fit'", nominal, otherwise) end

-- Adds the least time of a tile that fits, and that tile's number, to derived values.
local function with_fit(derived)
  local times = {}
  for i, f in ipairs(fitting) do
    derived["fit_" .. i] = least_fit(f)
    times[i] = ("%d * fit_%d + %d"):format(#fitting, i, i - 1)
  end
  derived.fit_time = least(times)
  derived.fit = ("fit_time %% %d + 1"):format(#fitting)
  return derived
end

return at.pattern {
  name = "matmul",
  summary = "Product of two row-major matrices",
  problem = { m = 4096, n = 4096, k = 4096, dtype = "float" },
  ragged = { m = 140, n = 308, k = 148 },
  simulated = { m = 256, n = 256, k = 64 },

  space = {
    -- naive: a thread reads all it needs; one_operand: a tile of a in shared memory; tile: both; fit: both, on a tile
    -- that follows from the problem (what it says of tile, thread, layout, staging, stages and unroll is not read).
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
    layout_a = at.when("algorithm == 'tile'", { "columns", "rows" }),
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
  derived = with_fit {
    vec_a = "min(vec, k & -k)",
    vec_b = "min(vec, n & -n)",
    lines = fitted("lines", "tile_m"),
    columns = fitted("columns", "tile_n"),
    depth = fitted("depth", "tile_k"),
    own_lines = fitted("own_lines", "thread_m"),
    own_columns = fitted("own_columns", "thread_n"),
    copied = fitted("staging", "staging"),
    copies = fitted("copies", "stages"),
    unrolled = fitted("unroll", "unroll"),
    layout = fitted("layout", "layout_a"),
    registers = fitted("registers", "2 * thread_m * thread_n + 32"), -- of a thread
    at_least = "algorithm == 'fit' and 1 or min_blocks", -- blocks that a multiprocessor must have registers for
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
    tile_a = "layout == 'rows' and lines * (depth + pad) or depth * (lines + pad)",
    tile_b = "(algorithm == 'tile' or algorithm == 'fit') and depth * columns or 0",
    stage_bytes = "algorithm ~= 'naive' and copies * (tile_a + tile_b) * sizeof(dtype) or 0",
    -- What a block has of its tile of c, which others of its cluster read.
    tile_bytes = "lines * columns * sizeof(dtype)",
    -- Blocks that a multiprocessor has room for.
    resident = "max(at_least, min(device.registers_per_sm // (block * registers), "
      .. "device.shared_per_sm // (max(stage_bytes, tile_bytes) + 1024)))",
    tile_time = least_time(any_tile),
    -- Of tiles for more than 8 rounds the last matters little.
    shareable = "large and device.major >= 9 and tiles <= 8 * device.sm_count * resident and "
      .. "tile_bytes <= min(device.max_shared_per_block, device.shared_per_sm // at_least - 1024)",
    -- Blocks that share a tile of c.
    parts = "shareable and min((algorithm == 'fit' and fit_time // " .. #fitting .. " or tile_time) % " .. MOST_PARTS
      .. " + 1, tiles_k) or 1",
    shared_bytes = "max(stage_bytes, parts > 1 and tile_bytes or 0)",
  },
  where = {
    "is_float(dtype) and sizeof(dtype) >= 4",
    "algorithm ~= 'fit' or sizeof(dtype) == 4", -- nothing else was timed
    "vec * sizeof(dtype) <= 16",
    "unroll <= tile_k",
    "shared_bytes <= device.max_shared_per_block",
    "shared_bytes <= device.shared_per_sm // at_least - 1024",
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
