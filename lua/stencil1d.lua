-- A stencil along a line: dst[i] = 1 * src[i - radius] + 2 * src[i - radius + 1] + ... up to src[i + radius]. Elements
-- outside the line are 0. Each element is used 2 * radius + 1 times, by neighbours.
local at = require "autotune"

-- Elements of a pack, and packs of a thread's window: its outputs and both sides.
local pack = "min(width, 16 // sizeof(dtype))"
local outputs = "(block * width * items)"

return at.pattern {
  name = "stencil1d",
  summary = "Weighted sum of each element and its neighbours along a line",
  problem = { n = 1 << 27, radius = 3, dtype = "float" },
  ragged = { n = 30011 },
  simulated = { n = 1 << 16 },

  space = {
    -- direct: each output reads all its neighbours. window: a thread reads the elements that `width` outputs need, in
    -- vectors. shuffle: a thread reads its own elements and gets its neighbours' elements from their registers. shared:
    -- the block brings a tile with both sides to shared memory.
    algorithm = { "direct", "window", "shuffle", "shared" },
    block = at.pow2(64, 1024),
    -- Neighbouring outputs of a thread.
    width = at.when("algorithm == 'direct'", 1,
                    at.when("algorithm == 'shared'", { 1, 2, 4, 8, 16 }, { 2, 4, 8, 16 })),
    items = { 1, 2, 4 },        -- groups of outputs of a thread, a block's width apart
    -- Load hints do not help elements that neighbours read again from L1.
    load_hint = at.when("algorithm == 'shuffle' or algorithm == 'shared'",
                        { "none", "streaming", "no_allocate" }),
    store_hint = { "none", "streaming", "through" },
  },
  where = {
    "radius >= 1 and radius <= 8",
    "algorithm ~= 'shared' or (" .. outputs .. " + 32) * sizeof(dtype) <= 48 * 1024",
    pack .. " * sizeof(dtype) >= 2 or load_hint ~= 'no_allocate'",
    "width * items <= 32 and width * sizeof(dtype) <= 64",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
  },
  baseline = {
    algorithm = "direct", block = 256, width = 1, items = 1, load_hint = "none", store_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "dtype", count = "n" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "stencil1d.cu.tmpl", entry = "stencil1d", args = { "src", "dst" } },
  launch = { grid = ("ceil_div(n, %s)"):format(outputs), block = "block" },
  traffic = "2 * n * sizeof(dtype)",
  reference = at.reference { template = "stencil1d_ref.cu.tmpl" },
  -- The compiler chooses the order of additions.
  tolerance = "not is_float(dtype) and 0 or sizeof(dtype) == 2 and 1e-2 or sizeof(dtype) == 4 and 1e-6 or 1e-14",
}
