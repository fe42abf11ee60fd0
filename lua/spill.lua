-- How many values a thread can keep before the compiler spills them to memory, and whether spilling is ever worth it.
--
-- Each thread carries `live` elements through the same iterations. The outer loop goes through all of them, so all are
-- live at once. More values mean more independent work for a thread and fewer threads on a multiprocessor; a register
-- cap trades spills for threads.
local at = require "autotune"

return at.pattern {
  name = "spill",
  summary = "An iterated map that keeps a chosen number of values live in each thread",
  problem = { n = 1 << 25, rounds = 64 },
  ragged = { n = 100004, rounds = 3 },
  simulated = { n = 1 << 16, rounds = 2 },

  space = {
    live = at.range(8, 256, 8),  -- values a thread carries
    block = { 128, 256 },
    vec = { 1, 2, 4 },           -- elements a load or store moves
    unroll = at.when("index == 'constant'", { 1, 2, 4 }), -- rounds in one iteration of the loop
    -- Minimum number of resident blocks on a multiprocessor. An array that is indexed at run time lies in memory
    -- anyway.
    min_blocks = at.when("index == 'constant' and unroll == 1", { 1, 2, 3, 4, 6, 8 }),
    -- Register cap of a thread; the compiler accepts either a cap or a minimum number of blocks.
    max_registers = at.when("index == 'constant' and unroll == 1 and min_blocks == 1",
                            { 32, 40, 48, 64, 96, 128, 168, 255 }, 255),
    index = { "constant", "run_time" }, -- how the array of values is indexed
  },
  where = {
    "n % vec == 0",
    "live % vec == 0",
    "min_blocks * block <= device.max_threads_per_sm",
  },
  baseline = { block = 256, max_registers = 255 },

  buffers = {
    src = at.input { dtype = "float", count = "n" },
    dst = at.output { dtype = "float", count = "n" },
  },
  kernel = { template = "spill.cu.tmpl", entry = "spill", args = { "src", "dst", at.uint32 "rounds" } },
  launch = { grid = "ceil_div(n, block * live)", block = "block" },
  traffic = "8 * n",
  flops = "2 * n * rounds",  -- a multiplication and an addition of each value in each round
  ceiling = "fp32",
  reference = at.reference { template = "spill_ref.cu.tmpl" },
  tolerance = 0,
}
