-- c[i] = a[i] + b[i]: nothing but memory. How many bytes a thread asks for at once, and how many of
-- its requests are in flight together, is all there is to tune.
--
-- layout "padded" keeps three numbers in four places, as an array of 16-byte float3 does; "packed"
-- keeps them without gaps.
local at = require "autotune"

-- Places of an array, and those of them that hold numbers.
local places = "(layout == 'padded' and ceil_div(n, 3) * 4 or n)"
local numbers = "(layout == 'padded' and ceil_div(n, 3) * 3 or n)"
-- Places of an item; a padded float3 taken by its members is a place of four all the same.
local span = "(layout == 'padded' and width == 3 and 4 or width)"
local shares = ("ceil_div(%s, block * items * %s)"):format(places, span)

return at.pattern {
  name = "vector_add",
  summary = "Sum of two arrays",
  problem = { n = 1 << 26, dtype = "float", layout = "packed" },
  ragged = { n = 100003 },
  simulated = { n = 1 << 18 },

  space = {
    -- threads: each loads and stores its items; bulk: the copy engine of the multiprocessor moves
    -- whole shares between global and shared memory.
    algorithm = { "threads", "bulk" },
    width = { 1, 2, 3, 4, 8, 16, 32 }, -- neighbouring places that a thread takes as one item
    items = { 1, 2, 4 },               -- of them, a block's width apart
    block = at.pow2(64, 1024),
    schedule = at.when("algorithm == 'threads'", { "one_shot", "grid_stride" }),
    blocks_per_sm = at.when("schedule == 'grid_stride'", { 1, 2, 4, 8, 16 }),
    -- Hints belong to single instructions.
    load_hint = at.when("algorithm == 'threads' and single", { "none", "streaming", "no_allocate", "wide" }),
    store_hint = at.when("algorithm == 'threads' and single", { "none", "streaming", "through" }),
  },
  derived = {
    single = "width <= 4 and width ~= 3 and width * sizeof(dtype) <= 16",
    sm_threads = "block * blocks_per_sm",
  },
  where = {
    "algorithm == 'threads' or device.major >= 9",
    "algorithm == 'threads' or width * sizeof(dtype) == 16 and 32 * block * items <= 48 * 1024 - 16",
    "schedule == 'one_shot' or sm_threads >= 512 and sm_threads <= device.max_threads_per_sm",
    "layout == 'packed' or width ~= 2",
    "sizeof(dtype) >= 4",
    "width * items <= 32",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
    "load_hint ~= 'wide' or device.major >= 8",
  },
  baseline = { block = 256 },

  buffers = {
    a = at.input { dtype = "dtype", count = places },
    b = at.input { dtype = "dtype", count = places },
    c = at.output { dtype = "dtype", count = places },
  },
  kernel = { template = "vector_add.cu.tmpl", entry = "vector_add", args = { "a", "b", "c" } },
  launch = {
    grid = ("schedule == 'one_shot' and %s or min(%s, device.sm_count * blocks_per_sm)")
      :format(shares, shares),
    block = "block",
  },
  traffic = ("3 * %s * sizeof(dtype)"):format(numbers),
  reference = at.reference { template = "vector_add_ref.cu.tmpl" },
  tolerance = 0,
}
