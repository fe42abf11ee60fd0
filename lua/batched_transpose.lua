-- Transposes of many small, consecutive matrices: dst[matrix][c][r] = src[matrix][r][c].
--
-- Only bits move, so every element type is handled as the unsigned integer of its size.
local at = require "autotune"

return at.pattern {
  name = "batched_transpose",
  summary = "Out-of-place transposes of many small row-major matrices",
  problem = { batch = 4096, rows = 64, cols = 64, dtype = "float" },
  ragged = { batch = 37, rows = 52, cols = 44 },
  simulated = { batch = 64 },

  space = {
    -- naive: no shared memory. tile: a block copies a tile of one matrix through shared memory. registers: the same,
    -- but small blocks are transposed in registers first. chunk: a block takes `count` whole matrices.
    algorithm = { "naive", "tile", "registers", "chunk" },
    -- Columns and rows of src in a tile. For a chunk, tile_x is the part of a row of threads that a warp has.
    tile_x = at.when("algorithm == 'registers'", at.pow2(32, 128), at.pow2(16, 128)),
    tile_y = at.when("algorithm == 'registers'", at.pow2(32, 128),
                     at.when("algorithm == 'chunk'", 32, at.pow2(16, 128))),
    -- Elements of a load, along a row of src, and of a store, along a row of dst.
    load_vec = at.when("algorithm == 'registers'", { 2, 4 }, { 1, 2, 4 }),
    store_vec = at.when("algorithm == 'registers'", { 2, 4 }, { 1, 2, 4 }),
    block_rows = at.pow2(4, 32), -- rows of threads
    pad = at.when("algorithm == 'naive' or swizzle == 'xor'", 0,
                  at.when("algorithm == 'chunk'", { 0, 1 }, { 0, 1, 2, 4 })),
    swizzle = at.when("staged", { "none", "xor" }),
    count = at.when("algorithm == 'chunk'", { 1, 2, 4, 8, 16, 32 }),
    order = "linear",
    group = 1,
    load_hint = at.when("algorithm == 'registers' or algorithm == 'chunk'",
                        { "none", "streaming", "no_allocate" }),
    store_hint = at.when("algorithm == 'registers' or algorithm == 'chunk'",
                         { "none", "streaming", "through" }),
  },
  derived = {
    staged = "algorithm == 'tile' or algorithm == 'registers'",
    threads = "tile_x // load_vec * block_rows", -- a row of threads has this many, each with load_vec elements
    -- rows of a tile that the block reads at once
    read_rows = "algorithm == 'tile' and block_rows or block_rows * store_vec",
    lanes = "tile_y // store_vec", -- lanes that write a column of the tile
    tiles = "ceil_div(cols, tile_x) * ceil_div(rows, tile_y)",
  },
  where = {
    -- Vectors are full and aligned, also at the start of each matrix.
    "load_vec * sizeof(dtype) <= 16 and store_vec * sizeof(dtype) <= 16",
    "algorithm == 'chunk' or cols % load_vec == 0 and rows % store_vec == 0",
    "rows * cols % load_vec == 0 and rows * cols % store_vec == 0",
    "algorithm ~= 'registers' or pad % store_vec == 0",

    -- All threads have the same number of elements of the tile, both when they read and when they write it.
    "threads >= 64 and threads <= 1024",
    "algorithm == 'chunk' or read_rows <= tile_y",
    "not staged or threads >= lanes and threads <= lanes * tile_x",
    "not staged or tile_x * (tile_y + 4) * sizeof(dtype) <= 48 * 1024",
    "algorithm ~= 'chunk' or count * rows * (cols + pad) * sizeof(dtype) <= 48 * 1024",
    "algorithm ~= 'chunk' or tile_x == 32 * load_vec",
    "sizeof(dtype) > 1 or load_hint ~= 'no_allocate'",

    -- A few thousand configurations are enough: no thread has more than 32 elements, and no tile is much larger than
    -- the matrices.
    "algorithm == 'chunk' or tile_x <= 2 * tile_y and tile_y <= 2 * tile_x",
    "algorithm == 'chunk' or tile_x * tile_y <= 32 * threads",
    "algorithm == 'chunk' or tile_x < 2 * max(cols, 32) and tile_y < 2 * max(rows, 32)",
    "algorithm ~= 'naive' or tile_x == tile_y and tile_x <= 32",
    "algorithm ~= 'tile' or (load_vec == store_vec or load_vec + store_vec == 3) and (pad <= 1 or pad == store_vec)",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
  },
  baseline = { algorithm = "tile", tile_x = 32, tile_y = 32, block_rows = 8, pad = 1 },

  buffers = {
    src = at.input { dtype = "dtype", count = "batch * rows * cols", shape = { "batch", "rows", "cols" } },
    dst = at.output { dtype = "dtype", count = "batch * rows * cols", shape = { "batch", "cols", "rows" } },
  },
  kernel = { template = "batched_transpose.cu.tmpl", entry = "transpose", args = { "src", "dst" } },
  launch = {
    grid = "algorithm == 'chunk' and ceil_div(batch, count) or batch * tiles",
    block = "threads",
  },
  traffic = "2 * batch * rows * cols * sizeof(dtype)",
  reference = at.reference { template = "batched_transpose_ref.cu.tmpl" },
  tolerance = 0,
}
