-- The arguments of a T1 file (t1.lua): buffers with their fills, and scalars.

local host = ...

local at = host.own "autotune.lua"
local check = host.own "check.lua"
local members = host.own "t1_members.lua"
local expression = host.own "python_expression.lua"
local python = host.own "python.lua"
local python_c = host.own "python_c.lua"
local fail, member, needed, word = members.fail, members.member, members.needed, members.word
local show = check.show

local SCALAR_TYPES = {
  bool = "bool", byte = "int8", int8 = "int8", uint8 = "uint8", int16 = "int16", uint16 = "uint16", int32 = "int32",
  uint32 = "uint32", int64 = "int64", uint64 = "uint64", half = "half", float = "float", double = "double",
}

local TYPES = {
  "bool", "byte", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "half", "half2", "half4",
  "half8", "half16", "float", "float2", "float3", "float4", "float8", "float16", "double", "double2", "double3",
  "double4", "double8", "double16", "custom",
}

local MEMORY_TYPES = { "Vector", "Scalar", "Symbol", "Constant", "Local", "Texture" }
local FILL_TYPES = { "Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF", "Uninitialized" }
local ACCESS_TYPES = { "ReadOnly", "WriteOnly", "ReadWrite" }
local MEMBERS = {
  "Name", "Type", "Size", "TypeSize", "FillType", "FillValue", "DataSource", "RandomSeed", "AccessType", "MemoryType",
  "MemType", "Output",
}

-- The type of the scalars in an element, and how many there are.
local function element_type(given, what)
  local node = needed(given, "Type", "string", what)
  local name = word(given, "Type", TYPES, nil, what)
  if name == "custom" then return "uint8", needed(given, "TypeSize", "number", what).value, node end
  if SCALAR_TYPES[name] then return SCALAR_TYPES[name], 1, node end
  local base, count = string.match(name, "^(%a+)(%d+)$")
  return base, math.tointeger(tonumber(count)), node
end

-- How an argument is called as a buffer or a variable of the problem, and in the file.
local function names_of(given, spec, place)
  local called = given.value.Name and given.value.Name.value or ""
  return spec.fresh(called, "argument_" .. place), called
end

local function fill_value(given, what)
  local node = needed(given, "FillValue", nil, what)
  if node.kind == "string" then
    local v = members.constant(node, "FillValue of " .. what)
    if type(v) ~= "number" and type(v) ~= "boolean" then fail(node, "FillValue of %s: %s is no number", what, show(v)) end
    return v, node
  end
  if node.kind ~= "boolean" then members.expect(node, "number", "FillValue of " .. what) end
  return node.value, node
end

-- A file of elements, in this file's folder.
local function data_file(given, dtype, what)
  local source = needed(given, "DataSource", "string", what)
  local file, why = host.file(source.value, dtype)
  if not file then fail(source, "DataSource of %s: %s", what, why) end
  return at.file(source.value, { dtype = dtype })
end

-- How an input is filled. Kernel Tuner and BAT draw from a normal distribution, KTT from [0, FillValue):
-- which numbers these are is no part of the format.
local function read_fill(given, dtype, what)
  local kind = word(given, "FillType", FILL_TYPES, "Constant", what)
  if kind == "Random" then return "uniform" end
  if kind == "Uninitialized" then return "zero" end
  if kind == "Constant" then return at.constant((fill_value(given, what))) end
  if kind == "BinaryRaw" then return data_file(given, dtype, what) end
  if kind ~= "Generator" then fail(given.value.FillType, "FillType of %s: %s is not supported", what, kind) end
  local source = needed(given, "DataSource", "string", what)
  what = "DataSource of " .. what
  local tree = members.tree(source, what)
  members.check_names(source, tree, { { i = true } }, what)
  if tree.op == "name" then return "index" end
  if not python.names(tree).i then return at.constant(python.evaluate(tree, {}, members.failing(source, what))) end
  return "zero", python_c.write(tree, members.failing(source, what))
end

-- C++ names of element types.
local C_TYPES = {
  int8 = "signed char", uint8 = "unsigned char", int16 = "short", uint16 = "unsigned short", int32 = "int",
  uint32 = "unsigned int", int64 = "long long", uint64 = "unsigned long long", float = "float", double = "double",
}

--- The kernel that fills the buffers whose values are generated; nil where there is none. It is kept in `spec`
--- by read_vector().
local function generate(spec)
  if #spec.generated == 0 then return nil end
  local parameters, lines, args, counts = {}, {}, {}, {}
  for n, g in ipairs(spec.generated) do
    parameters[#parameters + 1] = C_TYPES[g.dtype] .. " *p" .. n
    parameters[#parameters + 1] = "long long n" .. n
    lines[n] = "    if (i < n" .. n .. ") p" .. n .. "[i] = (" .. C_TYPES[g.dtype] .. ")" .. g.text .. ";\n"
    args[#args + 1], args[#args + 2], counts[n] = g.name, at.int64(g.count), g.count
  end
  local text = python_c.PRELUDE .. "extern \"C\" __global__ void generate(" .. table.concat(parameters, ", ") .. ")\n{\n"
    .. "    long long i = blockIdx.x * 256LL + threadIdx.x;\n" .. table.concat(lines) .. "}\n"
  host.text("generated.cu", text)
  local most = #counts > 1 and "max(" .. table.concat(counts, ", ") .. ")" or counts[1]
  return at.kernel { template = "generated.cu", entry = "generate", args = args, grid = "ceil_div(" .. most .. ", 256)",
                     block = 256 }
end

-- How many elements there are: a parameter's name stands for the list of its values, as in Kernel Tuner.
local function read_count(given, spec, per_element, what)
  local node = needed(given, "Size", nil, what)
  what = "Size of " .. what
  local tree = spec.with_problem(node, members.tree(node, what))
  members.check_names(node, tree, { spec.lists, spec.variables }, what)
  local text, of = expression.translate(tree, {
    types = spec.variables, values = spec.lists, fail = members.failing(node, what),
  })
  if of ~= "whole" and of ~= "number" then fail(node, "%s is a %s; it is a number of elements", what, of) end
  return per_element == 1 and text or text .. " * " .. per_element, node
end

-- Variants add in other orders. Of the largest magnitude; KTT's, where nothing is said, is as large for floats.
local TOLERANCES = { half = 1e-2, float = 1e-4, double = 1e-9 }

local ROLES = { ReadOnly = "input", WriteOnly = "output", ReadWrite = "inout" }

local function read_vector(given, spec, place, what, in_constant)
  local name, called = names_of(given, spec, place)
  local dtype, per_element = element_type(given, what)
  local count, node = read_count(given, spec, per_element, what)
  local role = ROLES[word(given, "AccessType", ACCESS_TYPES, "ReadWrite", what)]
  if in_constant then
    role = "input"
    if called == "" then fail(given, "%s is constant memory and has no Name, which is the variable's", what) end
    spec.constants[called] = name
  end
  local fill, generated
  if role ~= "output" then fill, generated = read_fill(given, dtype, what) end
  if generated and not C_TYPES[dtype] then
    fail(given.value.DataSource, "DataSource of %s: a generator of %s is not supported", what, dtype)
  end
  if generated then
    spec.generated[#spec.generated + 1] = { name = name, dtype = dtype, count = count, text = generated }
  end
  spec.buffers[name] = at[role] {
    dtype = dtype, count = count, fill = fill, tolerance = role ~= "input" and TOLERANCES[dtype] or nil,
  }
  if called ~= "" then spec.results[called] = role ~= "input" and name or nil end
  spec.place("buffers." .. name, node, what)
  spec.order[#spec.order + 1] = name
  local bytes = "(" .. count .. ") * sizeof(\"" .. dtype .. "\")"
  spec.bytes[#spec.bytes + 1] = role == "inout" and "2 * " .. bytes or bytes
  return name
end

local function read_scalar(given, spec, place, what)
  local name, called = names_of(given, spec, place)
  local type, count, node = element_type(given, what)
  if count ~= 1 then fail(node, "%s: a scalar of the Type %s is not supported", what, node.value) end
  local v, value_node = fill_value(given, what)
  if type == "bool" then
    v = python.truth(v)
  elseif type == "half" or type == "float" or type == "double" then
    v = v + 0.0
  else
    v = math.tointeger(v)
      or fail(value_node, "%s: %s is not whole, and its Type is %s", what, show(v), node.value)
  end
  if spec.problem[called] == v then return at[type](called) end
  spec.problem[name] = v
  spec.place("problem." .. name, value_node, what)
  return at[type](name)
end

local REFUSED = {
  Local = "is OpenCL's; in CUDA there is SharedMemory",
  Texture = "needs a script, whose at.texture says what a texture is made of",
}

--- { node, what, value, in_constant, is_symbol }: the argument at a place of the list; `value` is what a script
--- writes for it. Adds what it is made of to `spec`.
local function read_argument(given, spec, place)
  members.expect(given, "object", "argument " .. place)
  local named = member(given, "Name", "string", "argument " .. place)
  local what = "argument " .. place .. (named and " (" .. named.value .. ")" or "")
  members.tell_unknown(given, MEMBERS, what)
  local memory = word(given, "MemoryType", MEMORY_TYPES, "Vector", what)
  if REFUSED[memory] then
    fail(given.value.MemoryType, "MemoryType of %s: %s %s", what, memory, REFUSED[memory])
  end
  local argument = { node = given, what = what, is_symbol = memory == "Symbol" or memory == "Constant" }
  argument.in_constant = argument.is_symbol
    or word(given, "MemType", { "Constant", "Global" }, "Global", what) == "Constant"
  argument.value = memory == "Scalar" and read_scalar(given, spec, place, what)
    or read_vector(given, spec, place, what, argument.in_constant)
  return argument
end

local REFERENCE_MEMBERS = {
  "Name", "TargetName", "FillType", "FillValue", "DataSource", "RandomSeed", "ValidationMethod", "ValidationThreshold",
}

-- How far results may be from a reference: KTT's methods.
local VALIDATIONS = {
  AbsoluteDifference = at.absolute, SideBySideComparison = at.absolute, SideBySideRelativeComparison = at.relative,
}

--- ReferenceArguments: the results that are right, by buffer, as far as they are in files; nil: there are none.
--- Gives the buffers their tolerances.
local function read_references(list, spec)
  local files
  for i, given in ipairs(list) do
    local what = "reference argument " .. i
    members.expect(given, "object", what)
    members.tell_unknown(given, REFERENCE_MEMBERS, what)
    local target = needed(given, "TargetName", "string", what)
    local name = spec.results[target.value]
    if not name then
      local known = {}
      for one in pairs(spec.results) do known[#known + 1] = one end
      fail(target, "TargetName of %s: no argument of that name is written: %s%s", what, show(target.value),
           check.meant(target.value, known))
    end
    local method = word(given, "ValidationMethod", {
      "AbsoluteDifference", "SideBySideComparison", "SideBySideRelativeComparison",
    }, "SideBySideComparison", what)
    local threshold = member(given, "ValidationThreshold", "number", what)
    if threshold then spec.buffers[name].tolerance = VALIDATIONS[method](threshold.value) end
    if word(given, "FillType", FILL_TYPES, "Constant", what) == "BinaryRaw" then
      files = files or {}
      files[name] = data_file(given, spec.buffers[name].dtype, what)
    else
      members.warn(given.value.FillType or given, "FillType of %s: results that are in no file are not compared with", what)
    end
  end
  return files
end

return { read = read_argument, generate = generate, references = read_references }
