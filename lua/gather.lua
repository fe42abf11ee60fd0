-- dst[i] = src[index[i]]: the cost of random access, and how much locality reduces it. DRAM delivers sectors of 32
-- bytes, of which a random index uses one element.
--
-- `order` is the order of the indices: "permutation" (each once, in random order), "below" (random), "sorted", "local"
-- (random within `window` neighbours, the same 4096 integers repeated).
local at = require "autotune"

local share = "(block * items * vec)"

return at.pattern {
  name = "gather",
  summary = "Elements of an array in the order of an index",
  problem = { n = 1 << 24, order = "permutation", window = 4096, dtype = "float" },
  ragged = { { n = 30011 }, { n = 30012 } },
  simulated = { n = 1 << 16 },

  space = {
    -- direct: each thread reads the elements of its indices. sorted: the block sorts its indices in shared memory, so
    -- that neighbouring threads read neighbouring addresses, and puts the elements back into their order there. windows: each thread keeps
    -- many indices and goes through the array window by window, in step with all other threads, so that sectors that
    -- one thread brought into L2 serve the others. in_place: an element takes the register of its index, so that a
    -- thread keeps twice as many.
    algorithm = { "direct", "sorted", "windows" },
    block = at.pow2(64, 1024),
    vec = { 1, 2, 4 },        -- neighbouring indices of a thread
    items = { 1, 2, 4, 8, 16, 32 }, -- vectors of a thread, a block's width apart
    windows = at.when("algorithm == 'windows'", { 2, 4, 8, 16, 32 }, 1),
    in_place = at.when("algorithm == 'windows' and sizeof(dtype) == 4", { false, true }, false),
    index_hint = { "none", "streaming" },
    -- Hint for loads of elements; L2 may fetch more than the sector (wide: 256 bytes).
    load_hint = { "none", "streaming", "no_allocate", "wide" },
    store_hint = { "none", "streaming", "through" },
    -- Prefetches all elements of a thread into L2 before loading them.
    prefetch = { false, true },
  },
  where = {
    "n % vec == 0 and vec * max(sizeof(dtype), 4) <= 16",
    "algorithm == 'windows' or vec * items <= 16",
    "algorithm ~= 'windows' or vec * items >= 8 and vec * items <= 32 and block >= 256",
    "algorithm ~= 'windows' or in_place or block * vec * items <= 16384", -- more would spill
    "algorithm ~= 'windows' or not prefetch and vec ~= 2 and index_hint == store_hint",
    "sizeof(dtype) > 1 or load_hint == 'none' or load_hint == 'streaming'",
    "load_hint ~= 'wide' or device.major >= 8",
    "algorithm ~= 'sorted' or vec == 1 and not prefetch",
    "algorithm ~= 'sorted' or " .. share .. " * (8 + sizeof(dtype)) <= 48 * 1024",
    "algorithm ~= 'sorted' or load_hint == 'none' and index_hint == 'none'",
    "not prefetch or vec * items > 1 and load_hint == 'none'",
  },
  baseline = {
    algorithm = "direct", block = 256, vec = 1, items = 1, index_hint = "none", load_hint = "none",
    store_hint = "none", prefetch = false,
  },

  buffers = {
    src = at.input { dtype = "dtype", count = "n" },
    index = at.input { dtype = "uint32", count = "n", fill = "order", limit = "n", block = "window" },
    dst = at.output { dtype = "dtype", count = "n" },
  },
  kernel = { template = "gather.cu.tmpl", entry = "gather", args = { "src", "index", "dst" } },
  launch = { grid = ("ceil_div(n, %s)"):format(share), block = "block" },
  traffic = "n * (4 + 2 * sizeof(dtype))",
  reference = at.reference { template = "gather_ref.cu.tmpl" },
  tolerance = 0,
}
