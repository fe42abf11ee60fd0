-- Transposes of many small matrices that lie one behind the other:
-- dst[matrix][c][r] = src[matrix][r][c].
--
-- Only bits move, so every element type is handled as the unsigned integer of its size.
local at = require "autotune"

-- Threads of a block: tile_x / load_vec of them side by side, in block_rows rows.
local threads = "tile_x // load_vec * block_rows"
local tile_count = "ceil_div(cols, tile_x) * ceil_div(rows, tile_y)"

local function when(algorithm, constraint)
  return ("algorithm ~= '%s' or %s"):format(algorithm, constraint)
end

return at.pattern {
  name = "batched_transpose",
  summary = "Out-of-place transposes of many small row-major matrices",
  problem = { batch = 4096, rows = 64, cols = 64, dtype = "float" },
  ragged = { batch = 37, rows = 52, cols = 44 },
  simulated = { batch = 64 },

  space = {
    -- naive: no shared memory; tile: a block takes a tile of one matrix through shared memory;
    -- registers: the same, turned in registers before it; chunk: a block takes `count` whole matrices.
    algorithm = { "naive", "tile", "registers", "chunk" },
    tile_x = at.pow2(16, 128),   -- columns of src
    tile_y = at.pow2(16, 128),   -- rows of src
    load_vec = { 1, 2, 4 },      -- elements a thread reads at once, along a row of src
    store_vec = { 1, 2, 4 },     -- and writes at once, along a row of dst
    block_rows = at.pow2(4, 32), -- rows of threads
    pad = { 0, 1, 2, 4 },
    swizzle = { "none", "xor" },
    count = { 1, 2, 4, 8, 16, 32 },
    order = "linear",
    group = 1,
    load_hint = { "none", "streaming", "no_allocate" },
    store_hint = { "none", "streaming", "through" },
  },
  where = {
    -- Vectors are whole and aligned, also where a matrix begins.
    "load_vec * sizeof(dtype) <= 16 and store_vec * sizeof(dtype) <= 16",
    "algorithm == 'chunk' or cols % load_vec == 0 and rows % store_vec == 0",
    "rows * cols % load_vec == 0 and rows * cols % store_vec == 0",

    -- All threads have the same share of the tile, when they read it and when they write it.
    threads .. " >= 64 and " .. threads .. " <= 1024",
    when("naive", "block_rows * store_vec <= tile_y"),
    when("tile", "block_rows <= tile_y"),
    when("registers", "block_rows * store_vec <= tile_y"),
    "algorithm == 'naive' or algorithm == 'chunk' or " .. threads .. " >= tile_y // store_vec",
    "algorithm == 'naive' or algorithm == 'chunk' or " .. threads .. " <= tile_y // store_vec * tile_x",
    "algorithm == 'naive' or algorithm == 'chunk' or tile_x * (tile_y + 4) * sizeof(dtype) <= 48 * 1024",
    when("chunk", "count * rows * (cols + pad) * sizeof(dtype) <= 48 * 1024"),

    -- A parameter that an algorithm has no use for keeps one value.
    "algorithm == 'chunk' or count == 1",
    when("naive", "pad == 0 and swizzle == 'none' and tile_x == tile_y and tile_x <= 32"),
    when("naive", "load_hint == 'none' and store_hint == 'none'"),
    when("tile", "(load_vec == store_vec or load_vec + store_vec == 3) and (pad <= 1 or pad == store_vec)"),
    when("tile", "load_hint == 'none' and store_hint == 'none'"),
    when("registers", "load_vec > 1 and store_vec > 1 and pad % store_vec == 0"),
    when("registers", "tile_x >= 32 and tile_y >= 32"),
    -- tile_x stands for a warp's share of a row of threads.
    when("chunk", "tile_x == 32 * load_vec and tile_y == 32 and swizzle == 'none' and pad <= 1"),
    "pad == 0 or swizzle == 'none'",
    "sizeof(dtype) > 1 or load_hint ~= 'no_allocate'",

    -- A few thousand are enough: no thread with more than 32 elements, no tile much larger than the
    -- matrices.
    "tile_x <= 2 * tile_y and tile_y <= 2 * tile_x or algorithm == 'chunk'",
    "algorithm == 'chunk' or tile_x * tile_y <= 32 * (" .. threads .. ")",
    "algorithm == 'chunk' or tile_x < 2 * max(cols, 32) and tile_y < 2 * max(rows, 32)",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
  },
  baseline = {
    algorithm = "tile", tile_x = 32, tile_y = 32, load_vec = 1, store_vec = 1, block_rows = 8, pad = 1,
    swizzle = "none", count = 1, load_hint = "none", store_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "dtype", count = "batch * rows * cols", shape = { "batch", "rows", "cols" } },
    dst = at.output { dtype = "dtype", count = "batch * rows * cols", shape = { "batch", "cols", "rows" } },
  },
  kernel = { template = "batched_transpose.cu.tmpl", entry = "transpose", args = { "src", "dst" } },
  launch = {
    grid = ("algorithm == 'chunk' and ceil_div(batch, count) or batch * %s"):format(tile_count),
    block = threads,
  },
  traffic = "2 * batch * rows * cols * sizeof(dtype)",
  reference = at.reference { template = "batched_transpose_ref.cu.tmpl" },
  tolerance = 0,
}
