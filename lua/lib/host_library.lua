-- The functions and types of CUDA and of the standard library that host code uses, and the program's command line.

local host = ...

local early = host.own "early.lua"
local syntax = host.own "host_syntax.lua"
local values = host.own "host_values.lua"
local arguments = host.own "kernel_arguments.lua"

local node_of, place, text_of = syntax.node_of, syntax.place, syntax.text_of
local literal, open_value, is_number, copied, given, computed, write =
  values.literal, values.open_value, values.is_number, values.copied, values.given, values.computed, values.write

local function new_object(bytes, node, count)
  return { object = { bytes = bytes, at = place(node), text = text_of(node), count = count, cells = {} } }
end

-- Marks the memory behind a pointer as unknown, because a function whose body is not visible may change it.
local function forget(v, node, name)
  local object = v and v.object or v and v.to and v.to.v and v.to.v.object
  for i, cell in pairs(object and object.cells or {}) do
    if is_number(cell.v) then write(cell, open_value(cell.name, node, "set by " .. name)) end
  end
  if object then object.why, object.writer = "set by " .. name, node end
  if v and v.to then
    local old = v.to.v
    if not (old and (old.object or old.lambda)) then write(v.to, old and old.fields and { fields = {}, class = old.class, why = "set by " .. name } or open_value(v.to.name, node, "set by " .. name)) end
  end
end

local function set_pointer(args, v)
  local p = args[1]
  if p and p.to then write(p.to, v) end
  return literal(0)
end

local function copy_memory(args, node)
  local to, from = args[1] and args[1].object, args[2] and args[2].object
  if to and not to.bytes and is_number(args[3]) then to.bytes = args[3] end
  if to then
    to.part = to.zero and to.bytes and not values.same(to.bytes, args[3]) and place(node) or nil
    to.zero, to.from = false, from
  end
  if from and not from.bytes and is_number(args[3]) then from.bytes = args[3] end
  return literal(0)
end

-- Returns the number in a text of the command line, or an unknown number.
local function from_input(args, node)
  local text = args[1] and args[1].string
  local v = text and string.match(text, "^%s*[+-]?0[xX]%x+") or text and string.match(text, "^%s*([+-]?%d+)%f[^%d.eE]") or text and string.match(text, "^%s*[+-]?[%d.]+[eE]?[+-]?%d*")
  if tonumber(v) then return literal(tonumber(v)) end
  local source = args[1] and args[1].object and args[1].object.why
  v = open_value(nil, node, source or "set by the command line")
  v.input = not source
  return v
end

-- Compares two texts; `count` may be nil.
local function compare(args, node)
  local a, b, count = args[1] and args[1].string, args[2] and args[2].string, args[3] and args[3].n
  if not a or not b then return open_value(nil, node) end
  return literal(string.sub(a, 1, count or -1) == string.sub(b, 1, count or -1) and 0 or 1)
end

-- numbers of cudaDeviceGetAttribute for which cudaDeviceProp has a member
local ATTRIBUTES = { [1] = "maxThreadsPerBlock", [10] = "warpSize", [16] = "multiProcessorCount", [39] = "maxThreadsPerMultiProcessor" }

-- The options of the command line by the Toolkit's samples: "--name" or "--name=value".
local function sample_option(is_flag)
  return function(args, node)
    local cells, name = args[2] and args[2].object and args[2].object.cells, args[3] and args[3].string
    for i = 1, cells and name and args[1].n - 1 or 0 do
      local value = string.match(cells[i].v.string or "", "^%-+" .. name .. "=?(.*)$")
      if value then return is_flag and literal(1) or from_input({ { string = value } }, node) end
    end
    return cells and name and literal(0) or from_input({}, node)
  end
end

-- functions that are known though their bodies are there
local samples = { checkCmdLineFlag = sample_option(true) }
for _, name in ipairs { "getCmdLineArgumentInt", "getCmdLineArgumentFloat" } do samples[name] = sample_option(false) end

local known = {
  cudaDeviceGetAttribute = function(args, node)
    local property = args[2] and ATTRIBUTES[args[2].n]
    return set_pointer(args, open_value(property, node, "set by " .. (property and "cudaGetDeviceProperties" or "cudaDeviceGetAttribute")))
  end,
  cudaMalloc = function(args, node) return set_pointer(args, new_object(args[2], node)) end,
  cudaMallocPitch = function(args, node)
    forget(args[2], node, "cudaMallocPitch")
    local pitch = args[2] and args[2].to and args[2].to.v
    return set_pointer(args, new_object(computed("*", pitch, args[4]), node))
  end,
  malloc = function(args, node) return new_object(args[1], node) end,
  calloc = function(args, node)
    local v = new_object(computed("*", args[1], args[2]), node)
    v.object.zero = true
    return v
  end,
  aligned_alloc = function(args, node) return new_object(args[2], node) end,
  cudaMemset = function(args)
    if args[1] and args[1].object then args[1].object.zero = args[2] and args[2].n == 0 end
    return literal(0)
  end,
  cudaMemcpy = copy_memory,
  memcpy = copy_memory,
  cudaMemcpyToSymbol = function() return literal(0) end,
  cudaHostGetDevicePointer = function(args) return set_pointer(args, args[2]) end,
  atoi = from_input, getenv = from_input, strcmp = compare, strncmp = compare, strcasecmp = compare,
  ["operator=="] = function(args, node) return computed("==", compare(args, node), literal(0)) end,
  ["operator!="] = compare,
  sscanf = function(args, node)
    local count = 0
    for i, v in pairs(args) do
      if i > 2 and v.to then count = count + 1 write(v.to, given(v.to.name, from_input({ count == 1 and args[1] or nil }, node), node)) end
    end
    return literal(count)
  end,
  raw_pointer_cast = function(args) return args[1] end,
  move = function(args) return args[1] end,
}
for _, name in ipairs { "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaMallocAsync" } do known[name] = known.cudaMalloc end
known.cudaMemcpyAsync, known.cudaMemsetAsync, known.memset = copy_memory, known.cudaMemset, known.cudaMemset
for _, name in ipairs { "atol", "atoll", "atof", "strtod", "strtof", "strtol", "strtoul", "strtoll", "strtoull", "stoi", "stol", "stoul", "stoull", "stof", "stod" } do
  known[name] = from_input
end
for _, name in ipairs { "exit", "abort", "_exit" } do known[name] = function() return nil, "exit" end end
for _, name in ipairs { "ceil", "floor", "sqrt", "log", "log2", "log10", "abs" } do
  known[name] = function(args) return computed(name, args[1]) end
  known[name .. "f"] = known[name]
end
for _, name in ipairs { "min", "max" } do known[name] = function(args) return computed(name, args[1], args[2]) end end
function known.pow(args, node) -- a small power is a product, which follows the base
  local base, n, product = args[1], args[2] and args[2].n, args[1]
  if n ~= 1 and n ~= 2 and n ~= 3 or not is_number(base) then return computed("pow", base, args[2]) end
  for _ = 2, n do product = computed("*", product, base) end
  product = early.copied(values.converted(product, "double"))
  if not values.is_plain(args[2]) then product.note = "where " .. text_of(node_of(node.arguments[2])) .. " is " .. math.tointeger(n) end
  return product
end
for name, kind in pairs { iota = "index", shuffle = "permutation", random_shuffle = "permutation" } do
  known[name] = function(args, node) if args[1] and args[1].object then args[1].object.fill = { kind = kind, at = place(node), text = text_of(node) } end end
end
known.powf, known.fabs, known.fabsf = known.pow, known.abs, known.abs

-- member functions of std::vector
local methods = {
  size = function(v, _, node)
    v.count = v.count or open_value("size", node, "set at run time: the elements of a list")
    return v.count
  end,
  push_back = function(v) v.count = nil end,
  resize = function(v, args, node)
    v.count = args[1]
    v.object = new_object(computed("*", args[1], literal(v.width)), node).object
    return literal(0)
  end,
}
methods.assign = methods.resize
for _, name in ipairs { "data", "begin", "get" } do methods[name] = function(v) return v end end

local function sides(v)
  if v and v.fields then
    local list = {}
    for i, side in ipairs { "x", "y", "z" } do list[i] = v.fields[side] and v.fields[side].v or literal(1) end
    return list
  end
  return { v or literal(1), literal(1), literal(1) }
end

-- Returns an object of a type of CUDA or of the standard library, or a copy of the argument; nil for other types.
local function construct(node, args)
  local name = string.gsub(node.type, "^const ", "")
  if name == "dim3" then
    if args[1] and args[1].fields then return copied(args[1]) end
    local fields = {}
    for i, side in ipairs { "x", "y", "z" } do fields[side] = { v = args[i] or literal(1), name = side } end
    return { fields = fields, class = node.class }
  end
  local is_alike = args[1] and (args[1].lambda or args[1].fields and (args[1].class or node.class) == node.class)
  if is_alike and #args == 1 or args[1] and args[1].string then return copied(args[1]) end
  if string.find(name, "^std::vector<") or string.find(name, "^thrust::[%w]+_vector<") then
    local element_type, width = string.match(name, "<(.*)>$"), nil
    for _, child in ipairs(node_of(node.ref).children) do width = node_of(child).kind == "ParmDecl" and node_of(child).pointee_bytes or width end
    local v = { fields = {}, vector = true, width = arguments.bytes_of(string.match(element_type, "^[^,]*")) or width or 1 }
    local items = args[1] and args[1].items
    if items or is_number(args[1]) then methods.resize(v, { items and literal(#items + 1) or args[1] }, node) end
    if items then v.object.cells, v.object.is_host = items, true end
    return v
  end
  return nil
end

-- Returns the arguments of main: argc and argv.
local function arguments_of_main(decl)
  local line = host.sketches()
  if #line == 0 then return {} end
  local cells = { [0] = { v = { string = decl.name } }, [#line + 1] = { v = literal(0) } }
  for i, text in ipairs(line) do cells[i] = { v = { string = text } } end
  return { { n = #line + 1, is_argc = true }, { object = { cells = cells, is_host = true } } }
end

return {
  samples = samples, known = known, methods = methods, new_object = new_object, forget = forget, construct = construct, sides = sides,
  arguments_of_main = arguments_of_main,
}
