-- Data between the host's memory and the device's: which memory it lies in, whether it goes by way of a
-- staging buffer, in what chunks, on how many streams.
--
-- `rounds` is work for a kernel on the way (that many multiplications and additions a word), so that
-- copies can hide behind it; with none there is a kernel only where memory is mapped. `pieces` is how
-- many arrays the data is in on the host, a gap between two: they are copied one by one, packed by the
-- host into a staging buffer, or gathered by a kernel from mapped memory. What variants are timed on
-- begins with the data in its memory and ends with it in the other: allocating and pinning are not in it.
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
    shrink = at.within(1, 1, 4096), -- of the chunks, for a small problem: 1024 makes 64 bytes of 64 KiB
  },
  ragged = { bytes = 100004, shrink = 1024 },

  space = {
    memory = { "pageable", "pinned", "write_combined", "mapped" },
    staging = at.when("memory == 'pageable' or memory == 'pinned' and pieces > 1",
                      { "none", "pinned", "write_combined" }),
    -- 0: everything at once.
    chunk = at.when("memory ~= 'mapped'", {
      0, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB,
    }),
    streams = at.when("chunk > 0", { 1, 2, 3, 4, 6, 8 }),
    width = at.when("launched", { 4, 8, 16 }), -- bytes a thread takes at once
    block = at.when("launched", { 256, 512 }),
    blocks_per_sm = at.when("launched", { 8, 4, 2, 1 }),
  },
  derived = {
    launched = "memory == 'mapped' or rounds > 0",
    -- Whole words; pieces that a thread can take 16 bytes of.
    piece_bytes = "pieces == 1 and bytes // 4 * 4 or max(16, bytes // pieces // 16 * 16)",
    total = "pieces * piece_bytes",
    pitch = "pieces == 1 and total or round_up(piece_bytes, 256) + 256",
    step = "chunk == 0 and total or chunk // shrink",
    src_pitch = "memory == 'mapped' and direction ~= 'to_host' and pitch or piece_bytes",
    dst_pitch = "memory == 'mapped' and direction ~= 'to_device' and pitch or piece_bytes",
  },
  where = {
    "chunk == 0 or step < total",
    -- The driver's copy of pageable memory is over when the host goes on.
    "memory ~= 'pageable' or staging ~= 'none' or streams == 1 or launched or direction == 'both'",
    -- The host reads write-combined memory a few bytes at a time.
    "staging ~= 'write_combined' or direction == 'to_device'",
  },
  baseline = { memory = "pageable", staging = "none", chunk = 0, streams = 1 },
  -- One copy of pinned memory goes at the bus's rate; many small pieces are gathered faster by a kernel that reads
  -- them where they are.
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
