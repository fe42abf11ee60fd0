-- A filter of size x size coefficients over an image: each output is a weighted sum of the pixels around it. Pixels
-- outside the image are 0. The coefficients are 1, 2, 3 ... row by row. The kernel can use other coefficients. Write
-- them into the buffer `weights`, after its first element; or into the numbers of the arguments; or, if they are known
-- at compile time, into coefficient() of conv2d.cu.tmpl.
local at = require "autotune"

-- Returns the bytes of a block's tile in shared memory. `pack` is the number of elements in a pack; the halo on the left
-- and right of the tile is rounded up to whole packs.
local function tile_bytes(rows, cols, pack)
  return ("(%s + size) * (%s + 2 * round_up(size // 2, %s)) * sizeof(dtype)"):format(rows, cols, pack)
end

-- Columns that blocks with this many threads in a row would cover.
local function covered(threads) return ("round_up(cols, %s * across)"):format(threads) end

-- Coefficients passed by value, enough for the largest filter: a struct has at most 32 members.
local function numbers(first, last)
  local members = {}
  for i = first, last do members[#members + 1] = at.float(i) end
  return at.struct(members)
end

local function launch(fields)
  fields.grid = { "ceil_div(cols, threads_x * across)", "ceil_div(rows, threads_y * down)" }
  fields.block = { "threads_x", "threads_y" }
  return fields
end

return at.pattern {
  name = "conv2d",
  summary = "Weighted sum of the pixels around each pixel of an image",
  problem = { rows = 16384, cols = 16384, size = 3, dtype = "float" },
  ragged = { rows = 203, cols = 308 },
  simulated = { rows = 256, cols = 512 },

  space = {
    -- direct: each output reads all its pixels. window: a thread goes down its rows and keeps the pixels of a line that
    -- it needs again in registers. shared: the same, from the block's tile with its halo.
    algorithm = { "direct", "window", "shared" },
    -- Threads of a block. If block_x is 64 or more, and narrower blocks cover the rows with clearly fewer idle threads,
    -- the block has a half or a quarter of block_x, and twice or four times block_y.
    block_x = at.pow2(16, 256),
    block_y = at.pow2(1, 16),
    -- Neighbouring outputs of a thread along a row, and rows of outputs. If vectors of this width do not divide the
    -- rows of the image, they are narrower and there are more rows.
    width = { 1, 2, 4, 8 },
    height = { 1, 2, 4, 8, 16 },
    -- Source of the coefficients: immediate operands, constant memory, the kernel's arguments, or a buffer that is
    -- loaded into registers.
    coefficients = { "immediate", "constant", "argument", "registers" },
    store_hint = { "none", "streaming" },
  },
  derived = {
    vector = "min(width, 16 // sizeof(dtype))",
    pack = "min(vector, cols & -cols)",
    across = "pack < vector and pack or width",
    down = "max(height, min(height * (width // across), 16))",
    threads_x = ("block_x < 64 and block_x or %s * 8 <= %s * 9 and block_x or %s * 8 <= %s * 9 and block_x // 2 or block_x // 4")
      :format(covered "block_x", covered "block_x // 2", covered "block_x // 2", covered "block_x // 4"),
    threads_y = "block_y * (block_x // threads_x)",
  },
  where = {
    "size % 2 == 1 and size >= 3 and size <= 7",
    "block_x * block_y >= 128 and block_x * block_y <= 512",
    "algorithm ~= 'direct' or width == 1 and height == 1",
    "algorithm ~= 'window' or width * height > 1",
    "algorithm ~= 'shared' or " .. tile_bytes("threads_y * down", "threads_x * across", "pack") .. " <= 48 * 1024",
    "algorithm ~= 'shared' or " .. tile_bytes("block_y * height", "block_x * width", "vector") .. " <= 48 * 1024",
    "width * height <= 64 and width * sizeof(dtype) <= 32",
    "algorithm == 'direct' or width * block_x >= 32",
    -- A few hundred configurations show the cost of coefficients; the others use the source that costs nothing.
    "coefficients == 'immediate' or store_hint == 'none' and block_x <= 64 and width ~= 8",
    "coefficients == 'immediate' or height <= 4",
    "coefficients ~= 'argument' or is_float(dtype) and dtype ~= 'double'",
  },
  baseline = {
    algorithm = "direct", block_x = 16, block_y = 16, width = 1, height = 1,
    coefficients = "registers", store_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "dtype", count = "rows * cols", shape = { "rows", "cols" } },
    weights = at.input {
      dtype = "dtype == 'double' and 'double' or is_float(dtype) and 'float' or 'int32'",
      count = "size * size + 1", fill = "index",
    },
    dst = at.output { dtype = "dtype", count = "rows * cols", shape = { "rows", "cols" } },
  },
  kernel = { template = "conv2d.cu.tmpl", entry = "conv2d", args = { "src", "weights", "dst" } },
  launches = {
    launch { when = "coefficients ~= 'argument'" },
    launch {
      when = "coefficients == 'argument'",
      args = { "src", "weights", "dst", numbers(1, 25), numbers(26, 49) },
    },
  },
  traffic = "2 * rows * cols * sizeof(dtype)",
  reference = at.reference { template = "conv2d_ref.cu.tmpl" },
  -- The compiler chooses the order of additions.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 2 and 1e-2 or sizeof(dtype) == 4 and 1e-6 or 1e-14",
}
