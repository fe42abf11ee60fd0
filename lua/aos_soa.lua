-- Particles of 6 or 8 numbers, stored as an array of structs, a struct of arrays, or a mixture: the cost of each
-- layout. Operation "update" adds half of the second half of each particle's numbers to the first half (a position
-- moves along a velocity), in place. "scale" halves the first half, and "set" overwrites it; neither reads the second
-- half. "convert" copies all numbers from `layout` to `to`.
--
-- Layouts: "aos"; "soa"; "tiles", consecutive tiles of `tile` particles, each a struct of arrays; "packed", two arrays
-- of four numbers a particle, one for each half, whose last number is 0 if a half has three. All layouts have room for
-- a multiple of 128 particles, and kernels handle all of them. "any" makes the layout a parameter, for operations in
-- place.
local at = require "autotune"

-- Numbers in the storage of a layout.
local function storage(layout)
  return ("(room * (%s == 'packed' and 8 or fields))"):format(layout)
end

local arrangements, kept_tile = { "aos", "soa", "packed" }, ""
for _, tile in ipairs { 4, 8, 16, 32, 64, 128 } do
  arrangements[#arrangements + 1] = "tiles_" .. tile
  kept_tile = kept_tile .. ("arrangement == 'tiles_%d' and %d or "):format(tile, tile)
end
kept_tile = kept_tile .. "tile"

return at.pattern {
  name = "aos_soa",
  summary = "Particles as structs, arrays and tiles: an update, or a conversion",
  problem = {
    n = 1 << 24, fields = 6, operation = "update", layout = "aos", to = "soa", tile = 32, dtype = "float",
  },
  ragged = { n = 5003 },
  simulated = { n = 1 << 13 },

  space = {
    -- The layout, if the problem leaves it open.
    arrangement = at.when("layout == 'any'", arrangements, "as_said"),
    -- How a thread reads structs. direct: number by number. vector: in vectors (also of neighbouring particles, in the
    -- other layouts). shared: the block copies its structs through shared memory. shuffle: the warp reads its structs
    -- as a plain array, and each lane gets its particle's numbers from the other lanes.
    algorithm = { "direct", "vector", "shared", "shuffle" },
    block = at.pow2(64, 1024),
    -- Neighbouring particles of a thread.
    width = at.when("algorithm == 'direct' or algorithm == 'shuffle'", 1, { 1, 2, 4 }),
    pad = at.when("algorithm == 'shared'", { 0, 1 }), -- padding after each struct in shared memory
    -- Load hints only apply to data that the kernel does not write.
    load_hint = at.when("algorithm == 'direct'", "none",
                        at.when("operation == 'convert'", { "none", "streaming", "no_allocate" },
                                { "none", "streaming" })),
    store_hint = { "none", "streaming", "through" },
  },
  layout = { "arrangement" },
  derived = {
    in_place = "operation ~= 'convert'",
    room = "round_up(n, 128)",
    kept = "arrangement == 'as_said' and (layout == 'any' and 'aos' or layout) or "
      .. "(arrangement == 'aos' or arrangement == 'soa' or arrangement == 'packed') and arrangement or 'tiles'",
    kept_tile = kept_tile,
    structs = "arrangement == 'aos' or arrangement == 'as_said' and layout == 'aos' or operation == 'convert' and to == 'aos'",
  },
  where = {
    "(fields == 6 or fields == 8) and (dtype == 'float' or dtype == 'double')",
    "operation == 'update' or operation == 'scale' or operation == 'set' or operation == 'convert'",
    "in_place or layout ~= 'any'",
    "is_pow2(tile) and tile >= 4 and tile <= 128",
    "algorithm == 'direct' or algorithm == 'vector' or structs",
    "algorithm ~= 'shared' or block * width * (fields + pad) * sizeof(dtype) <= 48 * 1024",
    "width * sizeof(dtype) <= 16",
    "load_hint == 'none' or store_hint == 'none' or load_hint == store_hint",
  },
  baseline = { algorithm = "direct", block = 256 },

  buffers = {
    src = at.input { dtype = "dtype", count = "in_place and 1 or " .. storage "kept" },
    dst = at.inout {
      dtype = "dtype",
      count = ("in_place and %s or %s"):format(storage "kept", storage "to"),
    },
  },
  kernel = { template = "aos_soa.cu.tmpl", entry = "aos_soa", args = { "src", "dst" } },
  launch = { grid = "ceil_div(room, block * width)", block = "block" },
  traffic = "room * (operation == 'update' and fields + fields // 2 or operation == 'scale' and fields "
    .. "or operation == 'set' and fields // 2 or 2 * fields) * sizeof(dtype)",
  reference = at.reference {
    template = "aos_soa_ref.cu.tmpl",
    grid = "ceil_div(room, 256)",
    block = 256,
  },
  tolerance = 0,
}
