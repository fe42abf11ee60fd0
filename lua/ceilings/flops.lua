-- The ceilings "fp32" and "fp64": fused multiply-adds in a second, in independent chains.
local at = require "autotune"

return at.pattern {
  name = "ceiling_flops",
  summary = "Chains of fused multiplications and additions",
  problem = { n = 1 << 22, rounds = 4096, dtype = at.one_of { "float", "double" } },
  ragged = false,
  simulated = { n = 1 << 13, rounds = 32 },

  space = {
    block = { 128, 256, 512 },
    chains = { 1, 2, 4, 8, 16 },   -- chains of a thread
    unroll = { 4, 16, 32 },        -- steps of each chain in one iteration of the loop
  },
  where = { "n % (block * chains) == 0", "rounds % unroll == 0" },
  baseline = { block = 256, chains = 4, unroll = 16 },

  buffers = {
    src = at.input { dtype = "dtype", count = "n" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = {
    template = "ceilings/flops.cu.tmpl", entry = "ceiling_flops",
    args = { "src", "dst", at.uint64 "n", at.uint64 "rounds" },
  },
  launch = { grid = "n // (block * chains)", block = "block" },
  flops = "2 * n * rounds",
  ceiling = "dtype == 'double' and 'fp64' or 'fp32'",
  reference = at.reference { template = "ceilings/flops_ref.cu.tmpl", entry = "flops_reference" },
}
