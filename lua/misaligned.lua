-- A copy from a misaligned address: dst[i] = src[i + offset]. A warp that reads 128 bytes from the middle of a 32-byte
-- sector touches five sectors instead of four. It cannot use vectors unless it aligns the reads and shifts the words
-- that it reads.
local at = require "autotune"

-- Elements of an item: 1, or the elements of a vector of 32-bit words.
local width = "(algorithm == 'direct' and 1 or words * 4 // sizeof(dtype))"

return at.pattern {
  name = "misaligned",
  summary = "Copy from an array that starts at an element offset",
  problem = { n = 1 << 26, offset = 1, dtype = "float" },
  ragged = { n = 100003 },
  simulated = { n = 1 << 18 },

  space = {
    -- direct: element by element. two_loads: each thread reads both aligned vectors that its output straddles. shuffle:
    -- a thread reads one of them and gets the other from its neighbour.
    algorithm = { "direct", "two_loads", "shuffle" },
    block = at.pow2(64, 1024),
    items = { 1, 2, 4, 8 },
    words = at.when("algorithm == 'direct'", 1, { 1, 2, 4 }), -- 32-bit words of a vector
    load_hint = { "none", "streaming", "no_allocate", "wide" },
    store_hint = { "none", "streaming" },
  },
  where = {
    "algorithm == 'direct' or words * 4 >= sizeof(dtype)",
    "algorithm ~= 'direct' or sizeof(dtype) > 1 or load_hint == 'none' or load_hint == 'streaming'",
    "load_hint ~= 'wide' or device.major >= 8",
  },
  baseline = { block = 256 },

  buffers = {
    -- Both vectors of the last thread lie within the array.
    src = at.input { dtype = "dtype", count = "round_up(n + offset, 16) + 32" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "misaligned.cu.tmpl", entry = "misaligned", args = { "src", "dst" } },
  launch = { grid = ("ceil_div(n, block * items * %s)"):format(width), block = "block" },
  traffic = "2 * n * sizeof(dtype)",
  reference = at.reference { template = "misaligned_ref.cu.tmpl" },
  tolerance = 0,
}
