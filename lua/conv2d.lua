-- A filter of size x size coefficients over an image: each output is a weighted sum of the pixels
-- around it; what is outside the image is 0. The coefficients are 1, 2, 3 ... row by row: whoever uses
-- the kernel with others puts them into the buffer `weights`, behind its first element, into the numbers of
-- the arguments, or into
-- coefficient() of conv2d.cu.tmpl when they are known as early as the size is.
local at = require "autotune"

-- Elements of a pack; the tile of a block in shared memory has whole packs on both sides.
local function tile_bytes(rows, cols, pack)
  return ("(%s + size) * (%s + 2 * round_up(size // 2, %s)) * sizeof(dtype)"):format(rows, cols, pack)
end

-- Columns that blocks of so many threads side by side would cover.
local function covered(threads) return ("round_up(cols, %s * across)"):format(threads) end

-- Coefficients by value, those of the largest filter: a struct has 32 members at most.
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
    -- direct: each output reads all its pixels; window: a thread marches down its rows and keeps what
    -- it needs of a line in registers; shared: the same, out of a tile of the block with its halo.
    algorithm = { "direct", "window", "shared" },
    -- Threads of a block. Where so wide a one would leave much of the last column of blocks idle, it is up to four
    -- times narrower and as much higher.
    block_x = at.pow2(16, 256),
    block_y = at.pow2(1, 16),
    -- Neighbouring outputs of a thread along a row, and rows of them. Where vectors that wide do not divide the
    -- rows of the image, they are narrower and there are more rows.
    width = { 1, 2, 4, 8 },
    height = { 1, 2, 4, 8, 16 },
    -- Where coefficients come from: the instruction itself, constant memory, the kernel's arguments, or a
    -- buffer by way of registers.
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
    -- A few hundred show what coefficients cost; the rest has them where they cost nothing.
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
  -- The order of additions is the compiler's.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 2 and 1e-2 or sizeof(dtype) == 4 and 1e-6 or 1e-14",
}
