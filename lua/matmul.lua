-- Product of two row-major matrices: c[i][j] = sum of a[i][l] * b[l][j], c being m x n and l running
-- to k. Every element of a and b is used thousands of times; what differs is from where.
local at = require "autotune"

-- Threads of a block, and lines and columns of the tile that one warp computes.
local threads = "(tile_m // thread_m * (tile_n // thread_n))"
-- Elements of a stage: a tile of a, with pad, and one of b.
local tile_a = "(layout_a == 'rows' and tile_m * (tile_k + pad) or tile_k * (tile_m + pad))"
local tile_b = "(algorithm == 'tile' and tile_k * tile_n or 0)"
local shared_bytes = ("(algorithm ~= 'naive' and stages * (%s + %s) * sizeof(dtype) or 0)"):format(tile_a, tile_b)

-- Constraints on the configurations of one algorithm.
local function when(algorithm, constraint)
  return ("algorithm ~= '%s' or %s"):format(algorithm, constraint)
end

return at.pattern {
  name = "matmul",
  summary = "Product of two row-major matrices",
  problem = { m = 4096, n = 4096, k = 4096, dtype = "float" },
  ragged = { m = 204, n = 308, k = 76 },
  simulated = { m = 256, n = 256, k = 64 },

  space = {
    -- naive: a thread reads all it needs; one_operand: a tile of a in shared memory; tile: both.
    algorithm = { "naive", "one_operand", "tile" },
    tile_m = at.pow2(8, 128),          -- lines of c that a block computes
    tile_n = at.pow2(16, 256),         -- columns
    tile_k = { 8, 16, 32 },            -- products of each that it adds between two barriers
    thread_m = { 1, 2, 4, 8 },         -- lines that a thread computes
    thread_n = { 1, 2, 4, 8, 16 },     -- columns
    lanes_m = { 2, 4, 8 },             -- lanes of a warp along the lines; the others along columns
    layout_a = { "columns", "rows" },  -- of the tile of a: a thread's lines, or its products, are neighbours
    pad = { 0, 4 },
    vec = { 1, 2, 4 },                 -- elements of a load from global memory
    -- direct: loads, barrier, products, barrier; registers: loads of the next tile are on their way
    -- during the products; async: copies that pass no register are.
    staging = { "direct", "registers", "async" },
    stages = { 1, 2, 3, 4 },           -- tiles in shared memory at a time
    unroll = { 1, 4, 8, 16, 32 },
    min_blocks = { 1, 2 },             -- that an SM must have registers for
    group = { 1, 8 },                  -- width of the bands in which blocks take the tiles of c
  },
  where = {
    "is_float(dtype) and sizeof(dtype) >= 4",
    "vec * sizeof(dtype) <= 16",
    "k % vec == 0 and n % vec == 0",
    "unroll <= tile_k",
    shared_bytes .. " <= device.max_shared_per_block",
    shared_bytes .. " <= device.shared_per_sm // min_blocks - 1024",

    -- Whole warps, and all threads have the same share when they load.
    threads .. " >= 64 and " .. threads .. " <= 1024",
    "tile_m % (thread_m * lanes_m) == 0",
    "tile_n % (thread_n * (32 // lanes_m)) == 0",
    when("one_operand", ("tile_m * tile_k %% (vec * %s) == 0"):format(threads)),
    when("tile", ("tile_m * tile_k %% (vec * %s) == 0"):format(threads)),
    when("tile", ("tile_k * tile_n %% (vec * %s) == 0"):format(threads)),
    when("tile", ("tile_n // vec <= %s"):format(threads)),

    -- What an algorithm has no use for keeps one value.
    when("naive", "thread_m == 1 and thread_n == 1 and tile_k == 8 and lanes_m == 2 and group == 1"),
    when("naive", "vec == 1 and unroll <= 4"),
    when("one_operand", "layout_a == 'columns' and staging == 'direct' and group == 1"),
    when("one_operand", "tile_m <= 64 and tile_n <= 64 and thread_n <= 4 and thread_m <= 4"),
    "algorithm == 'tile' or layout_a == 'columns' and staging == 'direct' and min_blocks == 1",
    "algorithm == 'tile' or pad == 0",
    "staging ~= 'direct' or stages == 1",
    "staging ~= 'registers' or stages <= 2",
    "staging ~= 'async' or stages >= 2 and device.major >= 8 and vec * sizeof(dtype) >= 4",
    -- Lines of 16-byte vectors would all start in the same bank.
    "layout_a == 'columns' or pad == 4 and vec * sizeof(dtype) == 16",

    -- A few thousand are enough: large tiles with much work for a thread are what pays; of small ones
    -- a few show that.
    "thread_m * thread_n <= 128 and thread_n <= 2 * thread_m",
    when("tile", "thread_m * thread_n <= 16 or tile_m >= 64 and tile_n >= 64"),
    when("tile", "thread_m * thread_n >= 32 or tile_m <= 64 and tile_n <= 64 and staging == 'direct' and thread_m == thread_n"),
    when("tile", "thread_m * thread_n >= 32 or tile_m == tile_n and tile_k == 16 and layout_a == 'columns' and vec <= thread_n"),
    when("tile", "thread_m * thread_n >= 32 or group == 1 and min_blocks == 1"),
    when("tile", "thread_m * thread_n >= 32 or lanes_m == (tile_n // thread_n < 16 and 4 or 2)"),
    when("tile", "thread_m * thread_n < 32 or vec * sizeof(dtype) == 16 and tile_k <= 16 and lanes_m >= 4"),
    when("tile", "thread_m * thread_n < 32 or unroll == tile_k or unroll == 4"),
    when("tile", ("thread_m * thread_n < 32 or %s >= 128 and %s <= 256"):format(threads, threads)),
    when("tile", "thread_m * thread_n < 32 or staging ~= 'direct' or unroll == tile_k and group == 1"),
    when("tile", "thread_m * thread_n < 128 or staging ~= 'direct' and min_blocks == 1"),
    when("tile", "thread_m * thread_n < 32 or tile_m * tile_n >= 8192"),
    when("tile", "unroll ~= 4 or staging == 'direct' or group == 8"),
    when("tile", "thread_m * thread_n < 32 or pad == 4 or staging == 'direct'"),
    when("tile", "thread_m * thread_n < 32 or group == 8 or stages == 2"),
    when("tile", "stages < 4 or tile_k == 8"),
    "layout_a == 'columns' or staging ~= 'direct'",
    when("one_operand", "thread_m == thread_n and vec == 1 and tile_k == 16 and unroll >= 4"),
    when("one_operand", "tile_m == tile_n and lanes_m == (tile_n // thread_n < 16 and 4 or 2)"),
  },
  baseline = {
    algorithm = "naive", tile_m = 16, tile_n = 16, tile_k = 8, thread_m = 1, thread_n = 1, lanes_m = 2,
    layout_a = "columns", pad = 0, vec = 1, staging = "direct", stages = 1, unroll = 1, min_blocks = 1,
    group = 1,
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
    shared = ("%s > 48 * 1024 and %s or 0"):format(shared_bytes, shared_bytes),
  },
  launch = { grid = "ceil_div(m, tile_m) * ceil_div(n, tile_n)", block = threads },
  traffic = "(m * k + k * n + m * n) * sizeof(dtype)",
  reference = at.reference { template = "matmul_ref.cu.tmpl" },
  -- Sums of k products, in another order.
  tolerance = "dtype == 'double' and 1e-12 or 2e-5",
}
