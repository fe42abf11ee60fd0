local at = require "autotune"
return at.pattern {
  name = "p",
  problem = { n = 64, dtype = "float" },
  ragged = false,
  space = { a = { 1, 2 } },
  buffers = {
    x = at.input { dtype = "dtype", count = "n" },
    y = at.output { dtype = "dtype", count = "n", tolerance = at.ulps "n // 16" },
    z = at.inout { dtype = "half", count = 1, tolerance = at.relative(1e-3) },
    w = at.output { dtype = "int64", count = 1, tolerance = at.absolute(2) },
  },
  kernel = { template = "scale_ref.cu.tmpl", args = { "x", "y" } },
  launch = { grid = 1, block = 32 },
  traffic = "4 * n", flops = "2 * n", items = { keys = "n" },
  ceiling = "dtype == 'double' and 'fp64' or 'fp32'",
  reference = at.reference { template = "scale_ref.cu.tmpl" },
  tolerance = at.ulps(4), deterministic = true,
}
