-- dst = scale * src: the smallest pattern that has everything.
local at = require "autotune"

return at.pattern {
  name    = "scale",
  summary = "Copies an array, scaled",
  problem = { n = 1 << 20, scale = 3.0, dtype = "float" },
  ragged  = { n = 1003 },
  simulated = { n = 1 << 14 },

  space = {
    block = at.pow2(32, 1024),
    vec   = { 1, 2, 4 },
    cached = { true, false },
  },
  where = {
    "vec * sizeof(dtype) <= 16",
    "block <= device.max_threads_per_block",
    "cached or vec > 1",
    "n % vec == 0 or vec == 1",
  },
  baseline = { block = 256, vec = 1, cached = true },

  buffers = {
    src = at.input  { dtype = "dtype", count = "n", shape = { "n" } },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "scale.cu.tmpl", entry = "scale",
             args = { "src", "dst", at.int64("n"), at.double("scale") } },
  launch = { grid = "ceil_div(n, block * vec)", block = "block" },
  traffic = "2 * n * sizeof(dtype)",
  reference = at.reference { template = "scale_ref.cu.tmpl" },
  tolerance = 0,
}
