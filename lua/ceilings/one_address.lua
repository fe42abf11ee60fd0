-- The ceilings "one_word", "one_float" and "one_double": additions to one address in a second.
local at = require "autotune"

return at.pattern {
  name = "ceiling_one_address",
  summary = "Additions of warps to one address",
  problem = { n = 1 << 20, dtype = at.one_of { "uint32", "float", "double" } },
  ragged = false,
  simulated = { n = 1 << 12 },

  space = { block = { 128, 256 } },
  baseline = { block = 128 },

  buffers = { sum = at.inout { dtype = "dtype", count = 1, fill = "zero" } },
  kernel = { template = "ceilings/one_address.cu.tmpl", entry = "ceiling_one_address", args = { "sum" } },
  launch = { grid = "n // block", block = "block" },
  items = { additions = "n" },
  ceiling = "dtype == 'uint32' and 'one_word' or dtype == 'float' and 'one_float' or 'one_double'",
  tolerance = 0,
  reference = at.reference {
    template = "ceilings/one_address_ref.cu.tmpl", entry = "one_address_reference", args = { "sum", at.uint64 "n" },
  },
}
