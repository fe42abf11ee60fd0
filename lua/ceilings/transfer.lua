-- The ceilings "host_to_device" and "device_to_host": bytes that are copied in a second between pinned host memory and
-- device memory, in one direction.
local at = require "autotune"

local MIB = 1 << 20

return at.pattern {
  name = "ceiling_transfer",
  summary = "A copy between the host's memory and the device's",
  problem = { n = 1 << 27, direction = at.one_of { "to_device", "to_host" } },
  ragged = false,

  space = {
    memory = { "pinned", "write_combined" },
    chunk = { 0, 4 * MIB, 16 * MIB, 64 * MIB }, -- bytes; 0 stands for a single chunk
    streams = at.when("chunk > 0", { 1, 2, 4 }),
  },
  where = { "chunk < 4 * n" },

  buffers = {
    src = at.input { dtype = "uint32", count = "n", fill = "bits" },
    dst = at.output { dtype = "uint32", count = "n" },
  },
  transfer = {
    from = "src", to = "dst", direction = "direction", memory = "memory", chunk_bytes = "chunk", streams = "streams",
  },
  traffic = "4 * n",
  ceiling = "direction == 'to_device' and 'host_to_device' or 'device_to_host'",
  reference = at.reference {
    template = "ceilings/copy_ref.cu.tmpl", entry = "copy_reference", args = { "src", "dst", at.uint64 "n" },
  },
}
