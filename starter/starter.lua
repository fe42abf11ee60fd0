-- starter: dst[i] = src[i] + 1. It can be tuned as it is. Change it into your own kernel.
--
--   autotune starter.lua
--   autotune check starter.lua --budget 20      proves twenty variants, without a GPU
--
-- 'autotune help scripts' explains every field, 'autotune lint starter.lua' warns of likely mistakes.
local at = require "autotune"

return at.pattern {
  name = "starter",
  summary = "Adds one to an array",

  -- The problem; --set n=4096 changes it. No tile divides the ragged problem, so that edges are checked. Simulated
  -- devices, which are slow, get the simulated problem.
  problem = { n = 1 << 24, dtype = "float" },
  ragged = { n = 10007 },
  simulated = { n = 1 << 15 },

  -- The parameters and their values. The template reads them by name.
  space = {
    block = at.pow2(64, 1024), -- threads of a block
    items = { 1, 2, 4, 8 },    -- elements of a thread, a block's width apart
    unroll = at.when("items > 1", { true, false }),
  },
  -- The constraints that a valid variant satisfies; Lua expressions over everything above.
  where = {
    "block * items <= 4096",
  },
  -- The configuration that you would write first. Parameters that are left out have their first value.
  baseline = { block = 256 },

  buffers = {
    src = at.input { dtype = "dtype", count = "n" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "starter.cu.tmpl", entry = "starter", args = { "src", "dst", at.int64("n") } },
  launch = { grid = "ceil_div(n, block * items)", block = "block" },

  -- Bytes that a perfect kernel must move; GB/s is computed from them.
  traffic = "2 * n * sizeof(dtype)",
  -- The simplest correct kernel, with the same arguments. It shares no code with the variants.
  reference = at.reference { template = "starter_ref.cu.tmpl" },
  tolerance = 0, -- exact; 1e-5 would allow an error of 1e-5 times the output's largest magnitude
}
