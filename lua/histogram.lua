-- counts[v] += the number of bytes with the value v in an array. The difficulty is contention between threads. `values`
-- is the number of different bytes in the data: 256 for the least contention, 1 for the most.
local at = require "autotune"

-- Bytes of shared memory of a block, and vectors that its threads read in an iteration.
local shared_bytes = "(algorithm == 'shared' and 4 * 256 * copies or 0)"
local shares = "ceil_div(ceil_div(n, vec), block * items)"

return at.pattern {
  name = "histogram",
  summary = "How often each byte occurs in an array, added to counts",
  problem = { n = 1 << 27, values = 256 },
  ragged = { n = 30011 },
  simulated = { n = 1 << 16 },

  space = {
    -- global: every byte is an atomic addition to global memory. shared: every byte is an addition to the block's
    -- counts in shared memory, which are added to the global counts at the end.
    algorithm = { "global", "shared" },
    -- Copies of each count that a block keeps; successive lanes use successive copies.
    copies = { 1, 2, 4, 8, 16, 32 },
    -- Equal neighbours that one thread reads are counted in one addition.
    merge = { false, true },
    block = at.pow2(64, 1024),
    vec = { 1, 4, 16 },               -- bytes of a load
    items = { 1, 2, 4 },              -- loads of a thread in flight
    blocks_per_sm = { 1, 2, 4, 8, 16 },
    load_hint = { "none", "streaming", "no_allocate" },
  },
  where = {
    "values >= 1 and values <= 256",
    "vec * items <= 64",
    "block * blocks_per_sm <= device.max_threads_per_sm",
    "block * blocks_per_sm >= 512",
    "algorithm == 'shared' or copies == 1",
    -- The driver reserves 1 KiB of shared memory for each block.
    ("%s == 0 or (%s + 1024) * blocks_per_sm <= device.shared_per_sm"):format(shared_bytes, shared_bytes),
    "load_hint ~= 'no_allocate' or vec >= 4",
    -- A few configurations show the cost of the others.
    "algorithm == 'shared' or load_hint == 'none' and block == 256 and items == 1",
    "vec == 16 or load_hint == 'none' and items == 1 and block == 256",
    "not merge or vec >= 4",
  },
  baseline = {
    algorithm = "shared", copies = 1, merge = false, block = 256, vec = 1, items = 1,
    blocks_per_sm = 4, load_hint = "none",
  },

  buffers = {
    src = at.input { dtype = "uint8", count = "n", fill = "modulo", limit = "values" },
    counts = at.inout { dtype = "uint32", count = 256, fill = "modulo", limit = 1 }, -- the counts start at 0
  },
  kernel = { template = "histogram.cu.tmpl", entry = "histogram", args = { "src", "counts" } },
  launch = { grid = ("min(%s, device.sm_count * blocks_per_sm)"):format(shares), block = "block" },
  traffic = "n",
  items = { values = "n" },
  ceiling = "read",
  reference = at.reference {
    template = "histogram_ref.cu.tmpl",
    grid = "min(ceil_div(n, 1 << 12), 2048)",
    block = 256,
  },
  tolerance = 0,
}
