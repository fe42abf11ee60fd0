-- Out-of-place transpose of a row-major matrix: dst[c][r] = src[r][c].
--
-- Only bits move, so every element type is handled as the unsigned integer of its size.
local at = require "autotune"

-- Threads of a block: tile_x / load_vec of them side by side, in block_rows rows.
local threads = "tile_x // load_vec * block_rows"
-- Bytes of shared memory of a block; `pad` lengthens each line by elements.
local shared_bytes = "stages * (algorithm == 'registers' and tile_x * (tile_y + pad) "
  .. "or tile_y * (tile_x + pad)) * sizeof(dtype)"
local tile_count = "ceil_div(cols, tile_x) * ceil_div(rows, tile_y)"

-- A constraint on the configurations of one algorithm.
local function when(algorithm, constraint)
  return ("algorithm ~= '%s' or %s"):format(algorithm, constraint)
end

return at.pattern {
  name = "transpose",
  summary = "Out-of-place transpose of a row-major matrix",
  problem = { rows = 8192, cols = 8192, dtype = "float" },
  ragged = { rows = 204, cols = 308 },
  simulated = { rows = 512, cols = 512 },

  space = {
    -- naive: no shared memory; tile: elements in shared memory; registers: small blocks turned in
    -- registers before shared memory; async: the same after it, filled by asynchronous copies.
    algorithm = { "naive", "tile", "registers", "async" },
    tile_x = at.pow2(16, 128), -- columns of src
    tile_y = at.pow2(16, 128), -- rows of src
    load_vec = { 1, 2, 4 },    -- elements a thread reads at once, along a row of src
    store_vec = { 1, 2, 4 },   -- and writes at once, along a row of dst
    block_rows = at.pow2(4, 32), -- rows of threads
    pad = { 0, 1, 2, 4 },
    swizzle = { "none", "xor" },
    tiles = { 1, 4 },          -- that a block takes, one after the other
    stages = { 1, 2, 3 },      -- of them in shared memory at a time
    order = { "linear", "diagonal", "grouped_columns", "grouped_rows" },
    group = { 1, 2, 4, 8, 16 },
    load_hint = { "none", "streaming", "no_allocate", "wide" },
    store_hint = { "none", "streaming", "through" },
  },
  where = {
    -- Vectors are whole and aligned.
    "cols % load_vec == 0",
    "rows % store_vec == 0",
    "load_vec * sizeof(dtype) <= 16",
    "store_vec * sizeof(dtype) <= 16",

    -- All threads have the same share of the tile, when they read it and when they write it.
    threads .. " >= 64 and " .. threads .. " <= 1024",
    when("naive", "block_rows * store_vec <= tile_y"),
    when("tile", "block_rows <= tile_y"),
    when("registers", "block_rows * store_vec <= tile_y"),
    when("async", "block_rows <= tile_y"),
    when("tile", threads .. " >= tile_y // store_vec"),
    when("tile", threads .. " <= tile_y // store_vec * tile_x"),
    when("registers", threads .. " >= tile_y // store_vec"),
    when("registers", threads .. " <= tile_y // store_vec * tile_x"),
    when("async", threads .. " >= tile_y // store_vec"),
    when("async", threads .. " <= tile_y // store_vec * (tile_x // load_vec)"),
    shared_bytes .. " <= device.max_shared_per_block",

    -- A parameter that an algorithm has no use for keeps one value.
    when("naive", "pad == 0 and swizzle == 'none'"),
    when("registers", "load_vec > 1 and store_vec > 1 and pad % store_vec == 0"),
    when("async", "device.major >= 8"),
    when("async", "load_vec * sizeof(dtype) >= 4 and pad == 0 and load_hint == 'none'"),
    "algorithm == 'async' or tiles == 1",
    "(stages == 1) == (tiles == 1)",
    "pad == 0 or swizzle == 'none'",
    "(order == 'linear' or order == 'diagonal') == (group == 1)",
    "sizeof(dtype) > 1 or load_hint == 'none' or load_hint == 'streaming'",

    -- A few thousand are enough: no long thin tiles, no thread with more than 32 elements, and
    -- orders and hints only where DRAM and not something slower sets the pace.
    "tile_x <= 2 * tile_y and tile_y <= 2 * tile_x",
    "tile_x * tile_y <= 32 * (" .. threads .. ")",
    when("naive", "tile_x == tile_y and tile_x <= 32 and group == 1 and order == 'linear'"),
    when("naive", "load_hint == 'none' and store_hint == 'none'"),
    when("tile", "(load_vec == store_vec or load_vec + store_vec == 3) and tile_x * tile_y <= 4096"),
    when("tile", "order == 'linear' or pad == 1 or swizzle == 'xor'"),
    when("tile", "group == 1 or group == 8 and order == 'grouped_columns'"),
    when("tile", "load_hint == 'none' and store_hint == 'none'"),
    when("registers", "tile_x >= 32 and tile_y >= 32 and order ~= 'diagonal'"),
    when("registers", "swizzle == 'xor' or pad <= store_vec and order == 'linear'"),
    when("async", "tile_x >= 32 and tile_y >= 32 and load_vec > 1 and store_vec > 1"),
    when("async", "swizzle == 'xor' and (order == 'linear' or group == 8)"),
    "store_hint == 'none' or group == 8",
    "load_hint == 'none' or group == 8",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
    when("async", "store_hint ~= 'through'"),
    "load_hint ~= 'wide' or device.major >= 8",
  },
  baseline = {
    algorithm = "tile", tile_x = 32, tile_y = 32, load_vec = 1, store_vec = 1, block_rows = 8,
    pad = 1, swizzle = "none", tiles = 1, stages = 1, order = "linear", group = 1,
    load_hint = "none", store_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "dtype", count = "rows * cols", shape = { "rows", "cols" } },
    dst = at.output { dtype = "dtype", count = "rows * cols", shape = { "cols", "rows" } },
  },
  kernel = {
    template = "transpose.cu.tmpl",
    entry = "transpose",
    args = { "src", "dst" },
    shared = ("%s > 48 * 1024 and %s or 0"):format(shared_bytes, shared_bytes),
  },
  launch = { grid = ("ceil_div(%s, tiles)"):format(tile_count), block = threads },
  traffic = "2 * rows * cols * sizeof(dtype)",
  reference = at.reference {
    template = "transpose_ref.cu.tmpl",
    args = { "src", "dst", at.uint64 "rows", at.uint64 "cols" },
  },
  tolerance = 0,
}
