-- The ceiling "round_trips": dependent loads from DRAM in a second. Each load gives the address of the next. The
-- inverse is the latency of an idle DRAM.
local at = require "autotune"

return at.pattern {
  name = "ceiling_round_trips",
  summary = "A thread that loads from where its last load says",
  problem = { n = 1 << 28, steps = 1 << 14 },
  ragged = false,
  simulated = { n = 1 << 16, steps = 1 << 6 },

  space = { stride = { 4099, 65537 } }, -- words from one load to the next, an odd number
  baseline = { stride = 4099 },

  buffers = {
    src = at.input { dtype = "uint32", count = "n", fill = "zero" },
    place = at.output { dtype = "uint32", count = 1 },
  },
  kernel = {
    template = "ceilings/round_trips.cu.tmpl", entry = "ceiling_round_trips",
    args = { "src", "place", at.uint64 "n", at.uint64 "steps" },
  },
  launch = { grid = 1, block = 1 },
  items = { loads = "steps" },
  ceiling = "round_trips",
  reference = at.reference { template = "ceilings/round_trips_ref.cu.tmpl", entry = "round_trips_reference" },
}
