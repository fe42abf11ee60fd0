-- Data between host and device memory: the kind of host memory, whether a staging buffer is used, the size of chunks,
-- the number of streams.
--
-- `rounds` is work for a kernel between the copies (the number of multiply-adds for each word), so that copies can
-- overlap with it. With 0 rounds only mapped memory needs a kernel. `pieces` is the number of arrays that the data
-- consists of on the host, with a gap between two: they are copied one by one, packed by the host into a staging
-- buffer, or gathered by a kernel from mapped memory. A timed transfer begins with the data in the source memory and
-- ends with the data in the destination; allocating and pinning are not timed.
local at = require "autotune"

local KIB, MIB = 1 << 10, 1 << 20

return at.pattern {
  name = "transfer",
  summary = "Data between the host's memory and the device's",
  problem = {
    bytes = at.within(256 * MIB, 4, 1 << 40),
    direction = at.one_of { "to_device", "to_host", "both" },
    pieces = at.within(1, 1, 1 << 24),
    rounds = at.within(0, 0, 1 << 20),
    -- Divides the chunks of a small problem: 1024 makes 64 KiB 64 bytes.
    shrink = at.within(1, 1, 4096),
  },
  ragged = { bytes = 100004, shrink = 1024 },

  space = {
    memory = { "pageable", "pinned", "write_combined", "mapped" },
    staging = at.when("memory == 'pageable' or memory == 'pinned' and pieces > 1",
                      { "none", "pinned", "write_combined" }),
    -- 0 stands for one chunk
    chunk = at.when("memory ~= 'mapped'", {
      0, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB,
    }),
    streams = at.when("chunk > 0", { 1, 2, 3, 4, 6, 8 }),
    width = at.when("launched", { 4, 8, 16 }), -- bytes of a load or store
    block = at.when("launched", { 256, 512 }),
    blocks_per_sm = at.when("launched", { 8, 4, 2, 1 }),
  },
  derived = {
    launched = "memory == 'mapped' or rounds > 0",
    -- The data consists of whole words, and pieces consist of accesses of at most 16 bytes.
    piece_bytes = "pieces == 1 and bytes // 4 * 4 or max(16, bytes // pieces // 16 * 16)",
    total = "pieces * piece_bytes",
    pitch = "pieces == 1 and total or round_up(piece_bytes, 256) + 256",
    step = "chunk == 0 and total or chunk // shrink",
    src_pitch = "memory == 'mapped' and direction ~= 'to_host' and pitch or piece_bytes",
    dst_pitch = "memory == 'mapped' and direction ~= 'to_device' and pitch or piece_bytes",
  },
  where = {
    "chunk == 0 or step < total",
    -- A copy from pageable memory has ended when the host continues.
    "memory ~= 'pageable' or staging ~= 'none' or streams == 1 or launched or direction == 'both'",
    -- The host reads write-combined memory only a few bytes at a time.
    "staging ~= 'write_combined' or direction == 'to_device'",
  },
  baseline = { memory = "pageable", staging = "none", chunk = 0, streams = 1 },
  -- One copy from pinned memory runs at the speed of the bus. Many small pieces are gathered faster by a kernel that
  -- reads them from mapped memory.
  starts = { { memory = "pinned" }, { memory = "mapped", width = 16 } },

  buffers = {
    src = at.input { dtype = "uint32", count = "total // 4", fill = "bits" },
    dst = at.output { dtype = "uint32", count = "total // 4" },
  },
  transfer = {
    from = "src", to = "dst", direction = "direction",
    pieces = "pieces", pitch_bytes = "pitch",
    memory = "memory", staging = "staging", chunk_bytes = "chunk // shrink", streams = "streams",
  },
  kernel = {
    template = "transfer.cu.tmpl",
    args = {
      "src", "dst", at.uint64 "piece_bytes", at.uint64 "src_pitch", at.uint64 "dst_pitch", at.uint64 "rounds",
    },
  },
  launches = {
    {
      when = "launched",
      grid = "min(ceil_div(step, width * block), device.sm_count * blocks_per_sm)", block = "block",
    },
  },
  traffic = "(direction == 'both' and 2 or 1) * total",
  reference = at.reference {
    template = "transfer_ref.cu.tmpl", entry = "transfer_reference",
    args = { "src", "dst", at.uint64 "total // 4", at.uint64 "rounds" },
  },
  tolerance = 0,
}
