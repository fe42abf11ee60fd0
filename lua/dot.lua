-- result += sum of a[i] * b[i]: one number from two arrays. All variants read the arrays once; they differ in how they
-- combine the partial sums.
--
-- Threads add products in the elements' type; sums of several threads are double. The order in which blocks add varies,
-- so two launches may differ in the last bits.
local at = require "autotune"

return at.pattern {
  name = "dot",
  summary = "Dot product of two arrays, added to a number",
  problem = { n = 1 << 26, dtype = at.one_of { "float", "double" } },
  ragged = { n = 100003 },
  simulated = { n = 1 << 18 },

  space = {
    -- atomic: an atomic addition for each element. warp: one for each warp. tree: one for each block, summed in shared
    -- memory. shuffle: one for each block, summed in registers. two_pass: no atomic addition; the block that finishes
    -- last adds the sums of the others.
    algorithm = { "atomic", "warp", "tree", "shuffle", "two_pass" },
    block = at.pow2(64, 1024),
    items = at.when("algorithm == 'atomic'", 1, { 1, 2, 4, 8 }), -- loads of each array that a thread has in flight
    vec = at.when("algorithm == 'atomic'", 1, { 1, 2, 4 }),      -- elements of a load
    accumulators = { 1, 2, 4 },         -- sums that a thread keeps
    schedule = { "one_shot", "grid_stride" },
    blocks_per_sm = at.when("schedule == 'grid_stride'", { 1, 2, 4, 8, 16 }),
    load_hint = at.when("(algorithm == 'shuffle' or algorithm == 'two_pass') and items * vec >= 4",
                        { "none", "streaming", "no_allocate", "wide" }),
  },
  derived = {
    shares = "ceil_div(n // vec, block * items)",
    sm_threads = "block * blocks_per_sm",
  },
  where = {
    "vec * sizeof(dtype) <= 16",
    "n >= vec",
    "accumulators <= items",
    "schedule == 'one_shot' or sm_threads >= 512 and sm_threads <= device.max_threads_per_sm",
    "items * vec * sizeof(dtype) <= 64",
    "load_hint ~= 'wide' or device.major >= 8",
  },
  baseline = { algorithm = "tree", block = 256 },

  buffers = {
    a = at.input { dtype = "dtype", count = "n" },
    b = at.input { dtype = "dtype", count = "n" },
    result = at.inout { dtype = "double", count = 1, tolerance = at.relative(1e-4) },
    partial = at.scratch { dtype = "double", count = "ceil_div(n, 64)" }, -- one sum for each block
    -- the number of finished blocks starts at 0
    finished = at.inout { dtype = "uint32", count = 1, fill = "modulo", limit = 1 },
  },
  kernel = {
    template = "dot.cu.tmpl",
    entry = "dot",
    args = { "a", "b", "result", "partial", "finished" },
  },
  launch = {
    grid = "schedule == 'one_shot' and shares or min(shares, device.sm_count * blocks_per_sm)",
    block = "block",
  },
  traffic = "2 * n * sizeof(dtype)",
  ceiling = "read",
  reference = at.reference {
    template = "dot_ref.cu.tmpl",
    args = { "a", "b", "result" },
    grid = 1,
    block = 1024,
  },
  deterministic = false,
}
