-- Shared memory has 32 banks of 4 bytes, and a warp gets one word from each bank at a time. Here each thread reads its
-- own row of `stride` words from left to right, so the addresses of neighbouring lanes are `stride` words apart: with a
-- stride of 32 all lanes access one bank. With a stride of 0 all lanes read the same word, a broadcast without
-- conflicts.
local at = require "autotune"

local length = "(stride == 0 and 32 or stride)"              -- words that a thread reads in a pass
local shared_bytes = "4 * (stride == 0 and block or block * (stride + pad))"

return at.pattern {
  name = "bank_conflict",
  summary = "Threads that read rows of shared memory, `stride` words apart",
  problem = { n = 1 << 20, stride = 32, passes = 64 },
  ragged = { n = 5003, passes = 3 },
  simulated = { n = 1 << 13, passes = 16 },

  space = {
    element = { 4, 8, 16 },        -- bytes of a load
    pad = { 0, 1, 2, 4, 8 },       -- padding words after each row
    swizzle = { "none", "xor" },
    block = at.pow2(32, 1024),
  },
  where = {
    "stride >= 0 and stride <= 32",
    length .. " % (element // 4) == 0",
    "pad % (element // 4) == 0",
    "stride > 0 or pad == 0 and swizzle == 'none'",
    "pad == 0 or swizzle == 'none'",
    "swizzle == 'none' or stride > 1 and is_pow2(stride) and stride * 4 > element",
    shared_bytes .. " <= device.max_shared_per_block",
  },
  baseline = { element = 4, pad = 0, swizzle = "none", block = 256 },

  buffers = {
    src = at.input { dtype = "uint32", count = "n * max(stride, 1) + 32" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  kernel = {
    template = "bank_conflict.cu.tmpl",
    entry = "bank_conflict",
    args = { "src", "dst", at.uint32 "passes" },
    shared = ("%s > 48 * 1024 and %s or 0"):format(shared_bytes, shared_bytes),
  },
  launch = { grid = "ceil_div(n, block)", block = "block" },
  -- Traffic of shared memory, as threads read it. A broadcast gives a warp many times the bytes that the banks deliver.
  traffic = ("4 * n * passes * %s"):format(length),
  ceiling = "stride == 0 and 'none' or 'shared'",
  reference = at.reference { template = "bank_conflict_ref.cu.tmpl" },
  tolerance = 0,
}
