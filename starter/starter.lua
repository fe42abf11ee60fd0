-- starter: dst[i] = src[i] + 1. Change it into what you want to tune; it tunes as it stands:
--
--   autotune starter.lua
--   autotune check starter.lua --budget 20      proves twenty variants, without a GPU
--
-- 'autotune help scripts' explains every field, 'autotune lint starter.lua' says what looks odd.
local at = require "autotune"

return at.pattern {
  name = "starter",
  summary = "Adds one to an array",

  -- What is to be done; --set n=4096 changes it. No tile divides the ragged problem, so that edges
  -- are checked; a simulated device, which is slow, gets the simulated one.
  problem = { n = 1 << 24, dtype = "float" },
  ragged = { n = 10007 },
  simulated = { n = 1 << 15 },

  -- What may be tuned: parameters and their values. The template reads them by name.
  space = {
    block = at.pow2(64, 1024), -- threads of a block
    items = { 1, 2, 4, 8 },    -- elements of a thread, a block's width apart
    unroll = at.when("items > 1", { true, false }),
  },
  -- What must hold for a variant to make sense; expressions of Lua over everything above.
  where = {
    "block * items <= 4096",
  },
  -- What one would write first, where it differs from the first values.
  baseline = { block = 256 },

  buffers = {
    src = at.input { dtype = "dtype", count = "n" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "starter.cu.tmpl", entry = "starter", args = { "src", "dst", at.int64("n") } },
  launch = { grid = "ceil_div(n, block * items)", block = "block" },

  -- Bytes that a perfect kernel must move: what GB/s counts.
  traffic = "2 * n * sizeof(dtype)",
  -- The simplest kernel that is right, of the same arguments. It shares no code with the variants.
  reference = at.reference { template = "starter_ref.cu.tmpl" },
  tolerance = 0, -- bit for bit; 1e-5 allows that error of the output's largest magnitude
}
