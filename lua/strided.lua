-- A strided read: dst[i] = src[i * stride]. Of every 32-byte sector that DRAM delivers, a stride of s elements uses the
-- fraction 1 / s (at least one element).
local at = require "autotune"

-- Outputs of a thread. A vector of vec elements holds vec / stride outputs, or at most one.
local outputs = "items * (algorithm == 'vector' and vec % stride == 0 and vec // stride or 1)"
-- Elements of src that a block reads, with padding: one more after every 32.
local stretch = "(block * items * stride + pad * (block * items * stride // 32))"

return at.pattern {
  name = "strided",
  summary = "Read every stride-th element of an array",
  problem = { n = 1 << 24, stride = 4, dtype = "float" },
  ragged = { n = 100003 },
  simulated = { n = 1 << 18 },

  space = {
    -- direct: only the elements that outputs need. vector: the aligned vectors that contain them. segment: the whole
    -- part of src between the block's first and last element, through shared memory.
    algorithm = { "direct", "vector", "segment" },
    block = at.pow2(64, 1024),
    items = { 1, 2, 4, 8 },    -- loads of a thread that are in flight together
    vec = at.when("algorithm == 'direct'", 1, -- elements of a load
                  at.when("algorithm == 'vector'", { 2, 4 }, { 1, 2, 4 })),
    pad = at.when("algorithm == 'segment'", { 0, 1 }),
    load_hint = { "none", "streaming", "no_allocate", "wide" },
    store_hint = { "none", "streaming" },
  },
  where = {
    "vec * sizeof(dtype) <= 16",
    ("algorithm ~= 'segment' or %s * sizeof(dtype) <= device.max_shared_per_block"):format(stretch),
    "sizeof(dtype) > 1 or load_hint == 'none' or load_hint == 'streaming'",
    "load_hint ~= 'wide' or device.major >= 8",
  },
  baseline = { block = 256 },

  buffers = {
    -- Whole vectors, also at the end of the array.
    src = at.input { dtype = "dtype", count = "round_up(n * stride, 4)" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = {
    template = "strided.cu.tmpl",
    entry = "strided",
    args = { "src", "dst" },
    shared = ("algorithm == 'segment' and %s * sizeof(dtype) > 48 * 1024 and %s * sizeof(dtype) or 0")
      :format(stretch, stretch),
  },
  launch = { grid = ("ceil_div(n, block * (%s))"):format(outputs), block = "block" },
  traffic = "2 * n * sizeof(dtype)",
  reference = at.reference { template = "strided_ref.cu.tmpl" },
  tolerance = 0,
}
