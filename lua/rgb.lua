-- Splits an image of interleaved pixels, R G B R G B ..., into three planes. Pixels of three bytes straddle all
-- boundaries; layout "padded" adds a fourth byte to each pixel, as in uchar4.
local at = require "autotune"

local pixel_bytes = "(layout == 'padded' and 4 or 3)"
local share = "(block * pixels * items)"

return at.pattern {
  name = "rgb",
  summary = "Interleaved pixels to three planes",
  problem = { n = 1 << 28, layout = "packed" }, -- pixels
  ragged = { n = 100003 },
  simulated = { n = 1 << 16 },

  space = {
    -- direct: byte by byte. words: a thread loads its pixels as words and permutes their bytes. shared: the same, but
    -- the block's bytes go through shared memory, so that neighbouring threads load neighbouring addresses.
    algorithm = { "direct", "words", "shared" },
    block = at.pow2(64, 1024),
    pixels = { 1, 4, 8, 16 },  -- neighbouring pixels of a thread
    items = { 1, 2, 4 },       -- groups of pixels of a thread, a block's width apart
    pad = at.when("algorithm == 'shared'", { 0, 1 }), -- padding words after each thread's words in shared memory
    load_hint = { "none", "streaming", "no_allocate" },
    store_hint = { "none", "streaming", "through" },
  },
  where = {
    "layout == 'packed' or layout == 'padded'",
    "algorithm == 'direct' or pixels >= 4",
    "algorithm ~= 'direct' or load_hint ~= 'no_allocate'",
    "pixels * items <= 32",
    ("algorithm ~= 'shared' or %s * (pixels * %s + 4 * pad) // pixels <= 48 * 1024"):format(share, pixel_bytes),
    -- A thread's words are spread over several cache lines, which L1 must keep.
    ("algorithm ~= 'words' or load_hint == 'none' or pixels * %s <= 16"):format(pixel_bytes),
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
  },
  baseline = {
    algorithm = "direct", block = 256, pixels = 1, items = 1, pad = 0, load_hint = "none",
    store_hint = "none",
  },

  buffers = {
    -- The buffer has whole words, also at its end.
    src = at.input { dtype = "uint8", count = ("round_up(n * %s, 16)"):format(pixel_bytes) },
    r = at.output { dtype = "uint8", count = "n" },
    g = at.output { dtype = "uint8", count = "n" },
    b = at.output { dtype = "uint8", count = "n" },
  },
  kernel = { template = "rgb.cu.tmpl", entry = "rgb", args = { "src", "r", "g", "b" } },
  launch = { grid = ("ceil_div(n, %s)"):format(share), block = "block" },
  traffic = ("n * (%s + 3)"):format(pixel_bytes),
  reference = at.reference { template = "rgb_ref.cu.tmpl" },
  tolerance = 0,
}
