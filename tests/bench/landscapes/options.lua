-- Black-Scholes prices of calls and puts: much arithmetic for three reads and two writes.
local at = require "autotune"

return at.pattern {
  name = "options",
  problem = { n = 1 << 24, rate = 0.02, volatility = 0.3 },
  ragged = false,
  simulated = { n = 1 << 15 },
  space = {
    block = { 64, 128, 256, 512, 1024 },
    vec = { 1, 2, 4 },
    items = { 1, 2, 4 },
    formula = { "exact", "fast", "erf", "double" },
    schedule = { "one_shot", "grid_stride" },
  },
  where = { "formula ~= 'double' or vec == 1", "n % (block * vec * items) == 0" },
  baseline = { block = 256, vec = 1, items = 1, formula = "exact", schedule = "one_shot" },
  buffers = {
    price = at.input { dtype = "float", count = "n" },
    strike = at.input { dtype = "float", count = "n" },
    years = at.input { dtype = "float", count = "n" },
    call = at.output { dtype = "float", count = "n" },
    put = at.output { dtype = "float", count = "n" },
  },
  kernel = { template = "options.cu.tmpl", entry = "options", args = { "price", "strike", "years", "call", "put" } },
  launch = { grid = "schedule == 'one_shot' and n // (block * vec * items) or min(n // (block * vec * items), device.sm_count * 1024 // block)",
             block = "block" },
  traffic = "20 * n",
  reference = at.reference { template = "options_ref.cu.tmpl" },
  tolerance = 1e-3,
}
