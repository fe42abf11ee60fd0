-- The ceiling "launches": kernels that start and end in a second, one after the other. Each kernel does almost nothing.
-- The inverse is the least cost of a launch.
local at = require "autotune"

local launches = {}
for i = 1, 8 do
  launches[i] = { grid = 1, block = "block", args = { "dst", at.uint64(i - 1) } }
end

return at.pattern {
  name = "ceiling_launches",
  summary = "Kernels that write one word, back to back",
  problem = { first = 1 },
  ragged = false,
  simulated = { first = 2 },

  space = { block = { 32, 64, 128, 256, 512, 1024 } },
  buffers = { dst = at.output { dtype = "uint32", count = 8 } },
  kernel = { template = "ceilings/launches.cu.tmpl", entry = "ceiling_launches" },
  launches = launches,
  items = { launches = 8 },
  ceiling = "launches",
  reference = at.reference {
    template = "ceilings/launches_ref.cu.tmpl", entry = "launches_reference", args = { "dst", at.uint64(8) },
  },
}
