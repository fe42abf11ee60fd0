-- The ceilings "pieces_read" and "pieces_written": bytes that are read or written in a second, in runs of 32 bytes at
-- addresses far apart. DRAM moves larger pieces. Compared with "read" and "write", these ceilings show what a piece costs.
local at = require "autotune"

return at.pattern {
  name = "ceiling_pieces",
  summary = "Runs of 32 bytes at places far apart",
  problem = { n = 1 << 28, runs = 1 << 23, direction = at.one_of { "read", "written" } },
  ragged = false,
  simulated = { n = 1 << 16, runs = 1 << 10 },

  space = {
    block = { 128, 256, 512 },
    unroll = { 4, 8 },             -- vectors of 16 bytes that a thread has in flight
  },
  where = { "2 * runs % (block * unroll) == 0" },
  baseline = { block = 256, unroll = 4 },

  buffers = {
    words = at.inout { dtype = "uint32", count = "n", fill = "zero" },
    sum = at.inout { dtype = "uint32", count = 1, fill = "zero" },
  },
  kernel = {
    template = "ceilings/pieces.cu.tmpl", entry = "ceiling_pieces",
    args = { "words", "sum", at.uint64 "n", at.uint64 "runs" },
  },
  launch = { grid = "2 * runs // (block * unroll)", block = "block" },
  traffic = "32 * runs",
  ceiling = "direction == 'read' and 'pieces_read' or 'pieces_written'",
  reference = at.reference {
    template = "ceilings/pieces_ref.cu.tmpl", entry = "pieces_reference", grid = "ceil_div(2 * runs, 256)", block = 256,
  },
}
