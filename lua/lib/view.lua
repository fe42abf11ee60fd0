-- Reads at.tensor { ... }, at.texture { ... } and at.surface { ... }: arguments through which a kernel uses a buffer
-- without its address.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show

local FIELDS = {
  tensor = { "buffer", "size", "strides", "box", "swizzle", "l2", "outside" },
  texture = { "buffer", "size", "layers", "strides", "channels", "filter", "address", "coordinates", "reads", "memory" },
  surface = { "buffer", "size", "layers", "channels" },
}
local MOST = { tensor = 5, texture = 3, surface = 3 }
local WORDS = {
  outside = { "zero", "nan" },
  filter = { "point", "linear" },
  address = { "clamp", "border", "wrap", "mirror" },
  coordinates = { "elements", "normalised" },
  reads = { "element", "float" },
  memory = { "buffer", "array" },
}
local EXAMPLES = {
  tensor = "at.tensor { buffer = \"src\", size = { \"cols\", \"rows\" }, box = { \"tile_x\", \"tile_y\" } }",
  texture = "at.texture { buffer = \"src\", size = { \"cols\", \"rows\" } }",
  surface = "at.surface { buffer = \"dst\", size = { \"cols\", \"rows\" } }",
}

local view = {}

-- Tells whether `v` is the result of at.tensor, at.texture or at.surface.
function view.is(v)
  return type(v) == "table" and FIELDS[v[check.KIND]] ~= nil
end

function view.read(v, path, buffers, taken)
  local kind = v[check.KIND]
  local read = { type = kind }
  local names = {}
  v[check.KIND] = nil
  check.fields(v, path, FIELDS[kind])
  v[check.KIND] = kind
  for i, buffer in ipairs(buffers) do
    names[i] = buffer.name
    if buffer.name == v.buffer then read.buffer = i end
  end
  if not read.buffer then
    fail(child(path, "buffer"), " is %s; write the name of a buffer%s", v.buffer == nil and "missing" or show(v.buffer),
         meant(tostring(v.buffer), names))
  end
  for _, field in ipairs { "size", "strides", "box" } do
    if v[field] ~= nil then
      read[field] = check.expressions(v[field], child(path, field), MOST[kind] - (field == "strides" and 1 or 0))
    end
  end
  if not read.size then
    fail(child(path, "size"), " is missing; write the number of elements along each side, the row first: %s", EXAMPLES[kind])
  end
  if kind == "tensor" and #(read.box or {}) ~= #read.size then
    fail(child(path, "box"), "%s, and size has %d: %s", read.box and " has " .. #read.box .. " sides" or " is missing",
         #read.size, EXAMPLES.tensor)
  end
  if read.strides and #read.strides ~= #read.size - 1 then
    fail(child(path, "strides"), " has %d values; %d are needed: the bytes from one row to the next, from one plane "
      .. "to the next ...",
         #read.strides, #read.size - 1)
  end
  for field, words in pairs(WORDS) do
    if v[field] ~= nil then read[field] = check.word(v[field], child(path, field), words, taken) end
  end
  for _, field in ipairs { "swizzle", "l2", "channels", "layers" } do
    read[field] = check.optional(v[field], child(path, field))
  end
  return read
end

return view
