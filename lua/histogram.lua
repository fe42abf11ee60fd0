-- counts[v] += how often v is in an array of bytes. All that is hard about it is that threads meet:
-- `values` says how many different bytes the data has, 256 for the least contention, 1 for the most.
local at = require "autotune"

-- Bytes of shared memory of a block, and vectors that its threads take in a turn.
local shared_bytes = "(algorithm == 'shared' and 4 * 256 * copies or 0)"
local shares = "ceil_div(ceil_div(n, vec), block * items)"

return at.pattern {
  name = "histogram",
  summary = "How often each byte occurs in an array, added to counts",
  problem = { n = 1 << 27, values = 256 },
  ragged = { n = 30011 },
  simulated = { n = 1 << 16 },

  space = {
    -- global: every byte is an atomic addition to global memory; shared: to counts of the block in shared
    -- memory, which are added to the global ones at the end.
    algorithm = { "global", "shared" },
    -- Counts that a block keeps of each value, side by side; lanes go to one after the other.
    copies = { 1, 2, 4, 8, 16, 32 },
    -- A run of equal neighbours that one thread reads is one addition.
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
    -- The driver takes 1 KiB of shared memory a block for itself.
    ("%s == 0 or (%s + 1024) * blocks_per_sm <= device.shared_per_sm"):format(shared_bytes, shared_bytes),
    "load_hint ~= 'no_allocate' or vec >= 4",
    -- A few show what the others cost.
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
    counts = at.inout { dtype = "uint32", count = 256, fill = "modulo", limit = 1 }, -- zeros
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
