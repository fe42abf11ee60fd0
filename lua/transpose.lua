-- Out-of-place transpose of a row-major matrix: dst[c][r] = src[r][c].
--
-- Only bits move, so every element type is handled as the unsigned integer of its size.
local at = require "autotune"

return at.pattern {
  name = "transpose",
  summary = "Out-of-place transpose of a row-major matrix",
  problem = { rows = 8192, cols = 8192, dtype = "float" },
  ragged = { rows = 204, cols = 308 },
  simulated = { rows = 512, cols = 512 },

  space = {
    -- naive: no shared memory. tile: elements in shared memory. registers: small blocks are transposed in registers
    -- before shared memory. async: small blocks are transposed in registers after shared memory, which asynchronous
    -- copies fill.
    algorithm = { "naive", "tile", "registers", "async" },
    tile_x = at.when("turned", at.pow2(32, 128), at.pow2(16, 128)), -- columns of src
    tile_y = at.when("turned", at.pow2(32, 128), at.pow2(16, 128)), -- rows of src
    -- Elements of a load, along a row of src, and of a store, along a row of dst, as far as they divide a row.
    load_vec = at.when("turned", { 2, 4 }, { 1, 2, 4 }),
    store_vec = at.when("turned", { 2, 4 }, { 1, 2, 4 }),
    block_rows = at.pow2(4, 32), -- rows of threads; fewer and longer rows if the threads read fewer elements at once
    pad = at.when("algorithm == 'naive' or swizzle == 'xor'", 0, { 0, 1, 2, 4 }),
    swizzle = at.when("algorithm == 'naive'", "none",
                      at.when("algorithm == 'async'", "xor", { "none", "xor" })),
    tiles = at.when("algorithm == 'async'", { 1, 4 }), -- tiles that a block takes, one after the other
    stages = at.when("tiles > 1", { 2, 3 }, 1),        -- tiles in shared memory at a time
    -- Block orders and cache hints only matter if DRAM limits the speed.
    order = at.when("turned", { "linear", "grouped_columns", "grouped_rows" },
                    at.when("algorithm == 'tile'", { "linear", "diagonal", "grouped_columns" }, "linear")),
    group = at.when("order == 'linear' or order == 'diagonal'", 1, at.when("algorithm == 'registers'", { 2, 4, 8, 16 }, 8)),
    load_hint = at.when("algorithm == 'registers' and group == 8",
                        { "none", "streaming", "no_allocate", "wide" }),
    store_hint = at.when("algorithm == 'registers' and group == 8", { "none", "streaming", "through" },
                         at.when("algorithm == 'async' and group == 8", { "none", "streaming" }, "none")),
  },
  derived = {
    turned = "algorithm == 'registers' or algorithm == 'async'",
    threads = "tile_x // load_vec * block_rows", -- a row of threads has this many, each with load_vec elements
    -- Rows of the tile that the block reads at once; lanes that write one of its columns, and columns written at once.
    read_rows = "(algorithm == 'naive' or algorithm == 'registers') and block_rows * store_vec or block_rows",
    lanes = "tile_y // min(store_vec, rows & -rows)",
    columns = "algorithm == 'async' and tile_x // load_vec or tile_x",
    -- `pad` is the number of elements after each line.
    lines = "algorithm == 'registers' and tile_x * (tile_y + pad) or tile_y * (tile_x + pad)",
    shared_bytes = "stages * lines * sizeof(dtype)",
  },
  where = {
    "load_vec * sizeof(dtype) <= 16 and store_vec * sizeof(dtype) <= 16",
    "algorithm ~= 'async' or device.major >= 8 and min(load_vec, cols & -cols) * sizeof(dtype) >= 4",
    "algorithm ~= 'registers' or pad % store_vec == 0",

    -- All threads have the same number of elements of the tile, both when they read and when they write it.
    "threads >= 64 and threads <= 1024",
    "read_rows <= tile_y",
    "algorithm == 'naive' or threads >= lanes and threads <= tile_y // store_vec * columns",
    "shared_bytes <= device.max_shared_per_block",
    "sizeof(dtype) > 1 or load_hint == 'none' or load_hint == 'streaming'",
    "load_hint ~= 'wide' or device.major >= 8",

    -- A few thousand configurations are enough: no long thin tiles, no thread with more than 32 elements.
    "tile_x <= 2 * tile_y and tile_y <= 2 * tile_x",
    "tile_x * tile_y <= 32 * threads",
    "algorithm ~= 'naive' or tile_x == tile_y and tile_x <= 32",
    "algorithm ~= 'tile' or (load_vec == store_vec or load_vec + store_vec == 3) and tile_x * tile_y <= 4096",
    "algorithm ~= 'tile' or order == 'linear' or pad == 1 or swizzle == 'xor'",
    "algorithm ~= 'registers' or swizzle == 'xor' or pad <= store_vec and order == 'linear'",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
  },
  baseline = { algorithm = "tile", tile_x = 32, tile_y = 32, block_rows = 8, pad = 1 },

  buffers = {
    src = at.input { dtype = "dtype", count = "rows * cols", shape = { "rows", "cols" } },
    dst = at.output { dtype = "dtype", count = "rows * cols", shape = { "cols", "rows" } },
  },
  kernel = {
    template = "transpose.cu.tmpl",
    entry = "transpose",
    args = { "src", "dst" },
    shared = "shared_bytes > 48 * 1024 and shared_bytes or 0",
  },
  launch = { grid = "ceil_div(ceil_div(cols, tile_x) * ceil_div(rows, tile_y), tiles)", block = "threads" },
  traffic = "2 * rows * cols * sizeof(dtype)",
  reference = at.reference {
    template = "transpose_ref.cu.tmpl",
    args = { "src", "dst", at.uint64 "rows", at.uint64 "cols" },
  },
  tolerance = 0,
}
