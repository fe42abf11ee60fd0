-- Infers the arguments of a kernel in a file from the kernel's type, or checks given arguments against the type. Asks
-- the user for arguments that the type does not determine.

local host = ...

local check = host.own "check.lua"
local early = host.own "early.lua"
local kernel = host.own "kernel.lua"
local fail, KIND = check.fail, check.KIND

-- A request collects the fields that the pattern lacks, for one message.

local function new_request()
  return { order = {}, of = {} }
end

-- Adds `text`, an example for a missing part of `field`, to the request. `why` is the reason that the message gives.
local function ask(request, field, text, why)
  if not request.of[field] then
    request.of[field] = { texts = {}, whys = {} }
    request.order[#request.order + 1] = field
  end
  local one = request.of[field]
  one.texts[#one.texts + 1] = text
  if why ~= "" then one.whys[#one.whys + 1] = why end
end

local function tell(request, had, what)
  if #request.order == 0 then return end
  local lines = {}
  for _, field in ipairs(request.order) do
    local one = request.of[field]
    local outer, inner = string.match(field, "^(%w+)%.?(%w*)$")
    local text = (had[field] and "..., " or "") .. table.concat(one.texts, ", ")
    if inner ~= "" then text = inner .. " = { " .. text .. " }" end
    lines[#lines + 1] = "  " .. outer .. " = { " .. text .. " }   -- " .. table.concat(one.whys, ", ")
  end
  fail({}, "%s does not say everything that a launch needs. Add these fields, with the right values:\n%s\n"
    .. "If a launch of the program was captured, add --captured DIR instead, also to apply its results", what, table.concat(lines, "\n"))
end

local SCALARS = {
  int8 = true, uint8 = true, int16 = true, uint16 = true, int32 = true, uint32 = true, int64 = true,
  uint64 = true, half = true, bfloat16 = true, float = true, double = true, bool = true,
}

-- The element type for each type of C.
local C_TYPES = {
  char = "int8", ["signed char"] = "int8", ["unsigned char"] = "uint8", uchar = "uint8", int8_t = "int8", uint8_t = "uint8",
  short = "int16", ["unsigned short"] = "uint16", ushort = "uint16", int16_t = "int16", uint16_t = "uint16",
  int = "int32", unsigned = "uint32", ["unsigned int"] = "uint32", uint = "uint32", int32_t = "int32", uint32_t = "uint32",
  long = "int64", ["unsigned long"] = "uint64", ["long long"] = "int64", ["unsigned long long"] = "uint64",
  size_t = "uint64", int64_t = "int64", uint64_t = "uint64",
  half = "half", __half = "half", __nv_bfloat16 = "bfloat16", float = "float", double = "double",
}

-- Returns the element type and the number of lanes; nil for a structure or a type that the file defines.
local function type_of(text)
  local base, lanes = string.match(text, "^(%a+)([234])$")
  local known = C_TYPES[text] or base and C_TYPES[base]
  return known, C_TYPES[text] and 1 or math.tointeger(tonumber(lanes))
end

-- Returns the size of a type in bytes, or nil if it is not known.
local function bytes_of(text)
  local known, lanes = type_of(text)
  return text == "bool" and 1 or known and host.sizeof(known) * lanes
end

local function argument(kind, v)
  return { [KIND] = "argument", type = kind, value = v }
end

-- Tells whether a parameter is a single whole number.
local function is_whole(a)
  return not a.pointer and a.lanes == 1 and a.type ~= nil and string.find(a.type, "int") ~= nil
end

-- Returns a size for an example: that of another buffer, or the first whole number that the kernel takes.
local function example_count(description, signature, params)
  for _, name in ipairs(check.ordered_keys(description.sizes or {}, { "sizes" })) do
    if type(description.sizes[name]) == "string" then return description.sizes[name] end
  end
  for i, a in ipairs(signature) do
    if is_whole(a) and params[i].name ~= "" and not string.find(params[i].text, "Object_t", 1, true) then
      return params[i].name
    end
  end
  return "n"
end

-- Returns the element type that stands for a structure's words or bytes, and its size in bytes.
local function unit_of(a)
  if a.bytes % 4 == 0 then return "float", 4 end
  return "uint8", 1
end

-- Completes or makes the buffer of a pointer. A buffer that fills a constant is not an output.
local function complete_buffer(description, request, a, param, count_example)
  local name, sizes = param.name, description.sizes or {}
  local in_brackets = string.find(count_example, "[^%w_]") and "(" .. count_example .. ")" or count_example
  local given, role = description.buffers[name], a.const and "input" or "inout"
  local filled = type(description.kernel) == "table" and description.kernel.constants
  for _, buffer in pairs(type(filled) == "table" and filled or {}) do
    if buffer == name then role = "input" end
  end
  for i, output in ipairs(description.outputs or {}) do
    if output == name and a.const then fail({ "outputs", i }, "the kernel cannot write the memory that %s points to", param.text) end
    if output == name then role = "output" end
  end
  if given == nil then
    given = { [KIND] = role }
  elseif type(given) ~= "table" then
    return
  end
  description.buffers[name] = given
  given[kernel.PLACE] = sizes[name] ~= nil and { "sizes", name } or nil
  local known = a.type and SCALARS[a.type] and a.type ~= "bool"
  if given.dtype == nil then
    if a.type == "bool" then
      given.dtype = "uint8"
    elseif known then
      given.dtype = a.type
    elseif a.type == "pointer" then
      ask(request, "buffers", string.format("%s = at.scratch { dtype = \"uint64\", count = \"%s\" }", name, count_example),
          param.text .. " leads to addresses, which an earlier launch has to write")
      return
    elseif a.bytes == 0 then
      ask(request, "buffers", name .. " = at." .. given[KIND] .. " { dtype = \"float\", count = \"" .. count_example .. "\" }",
          "what " .. param.text .. " leads to")
      return
    else
      local unit, bytes = unit_of(a)
      ask(request, "buffers", string.format("%s = at.%s { dtype = \"%s\", count = \"%d * %s\" }", name, given[KIND], unit,
                                            a.bytes // bytes, in_brackets),
          param.text .. " leads to structs of " .. a.bytes .. " bytes")
      return
    end
  end
  if given.count == nil then
    local size = sizes[name]
    if size == nil then
      ask(request, "sizes", name .. " = \"" .. count_example .. "\"", "elements of " .. param.text)
    elseif a.lanes > 1 and (type(size) == "string" or type(size) == "number") then
      given.count = "(" .. tostring(size) .. ") * " .. a.lanes
    else
      given.count = size
    end
  end
end

-- Returns a structure of `bytes` zero bytes.
local function zeros(bytes)
  local members, width = {}, bytes % 4 == 0 and 4 or 1
  for m = 1, bytes // width do members[m] = argument(width == 4 and "uint32" or "uint8", 0) end
  return { [KIND] = "struct", members = members }
end

-- Returns a parameter's default argument: "= nullptr", "= 1.0f", "= make_uint3(0, 0, 0)". Returns nil if there is none,
-- or if its text is not a literal of such a form.
local function read_default(a, param)
  local text = string.match(param.text, "[^=<>!]=%s*([^=].-)%s*$")
  if not text then return nil end
  if a.pointer then return (text == "nullptr" or text == "NULL" or text == "0") and argument("uint64", 0) or nil end
  if a.type and a.lanes == 1 then
    local v = text == "true" and 1 or text == "false" and 0 or early.parse_c(text)
    return type(v) == "number" and argument(a.type, v) or nil
  end
  local inside = string.match(text, "^[%w_:]*%s*[({](.*)[)}]$")
  if not inside or string.find(inside, "[^0%s,.fuUlL]") then return nil end
  return zeros(a.bytes)
end

-- Returns the default argument of a parameter; nil if the pattern has a value for the parameter.
local function default_argument(description, a, param, is_known)
  local said = (description.sizes or {})[param.name] ~= nil or description.buffers[param.name] ~= nil or is_known(param.name)
  return not said and read_default(a, param) or nil
end

local MOST_MEMBERS = 64

-- Infers the arguments of a kernel from its type and its parameters' names.
local function infer_arguments(description, request, signature, params, named, is_known)
  local args, example, asked = {}, example_count(description, signature, params), 0
  for i, a in ipairs(signature) do
    if is_whole(a) and named[params[i].name] == nil and not is_known(params[i].name) then asked = asked + 1 end
  end
  for i, a in ipairs(signature) do
    local param = params[i]
    local given = named[param.name]
    local default = given == nil and default_argument(description, a, param, is_known)
    if given ~= nil then
      args[i] = given
      if type(given) ~= "table" and not a.pointer and a.type and SCALARS[a.type] and a.lanes == 1 then
        args[i] = argument(a.type, given)
      end
    elseif not a.pointer and string.find(param.text, "&[%s%a_]*" .. string.gsub(param.name, "_$", "") .. "%f[^%w_]") then
      fail({}, "the kernel's parameter %s is a reference, which a launch cannot pass; use a value or a pointer", param.text)
    elseif a.empty and not a.pointer then
      args[i] = zeros(a.bytes)
    elseif default then
      args[i] = default
    elseif param.name == "" then
      fail({}, "parameter %d of the kernel has no name (%s): give it one in the file", i, param.text)
    elseif a.pointer then
      complete_buffer(description, request, a, param, example)
      args[i] = param.name
    elseif string.find(param.text, "cuda%a+Object_t") then
      local is_surface, texels = string.find(param.text, "cudaSurfaceObject_t", 1, true), param.name .. "_texels"
      ask(request, "buffers", string.format("%s = at.%s { dtype = \"float\", count = \"%s * %s\" }", texels,
                                            is_surface and "output" or "input", example, example),
          "what " .. param.text .. (is_surface and " writes" or " reads"))
      ask(request, "kernel.args", string.format("%s = at.%s { buffer = \"%s\", size = { \"%s\", \"%s\" } }", param.name,
                                                is_surface and "surface" or "texture", texels, example, example),
          is_surface and "columns and rows of it" or "rows and columns of it")
    elseif a.type and a.lanes == 1 then
      local v = description.problem[param.name]
      if type(v) == "string" then
        fail({ "problem", param.name }, " is a text, but the kernel's parameter is %s; %s", param.text, tonumber(v)
             and string.format("write it without quotes: %s = %s", param.name, v)
             or string.format("if the value is computed from others, write derived = { %s = %q }", param.name, v))
      end
      if is_whole(a) and math.type(v) == "float" then -- such as n = 1e7
        if not math.tointeger(v) then
          fail({ "problem", param.name }, " is %s, but the kernel's parameter is a whole number: %s", tostring(v), param.text)
        end
        description.problem[param.name] = math.tointeger(v)
      end
      if not is_known(param.name) then -- the product of the examples is about a million
        local whole = "1 << " .. math.max(4, 20 // math.max(1, asked))
        ask(request, "problem", param.name .. " = " .. (a.type == "bool" and "true" or is_whole(a) and whole or "1.0"), param.text)
      end
      args[i] = argument(a.type, param.name)
    else
      local unit, bytes = unit_of(a)
      local members, word = {}, "at." .. (a.type or unit)
      for m = 1, a.type and a.lanes or a.bytes // bytes do members[m] = word .. "(0)" end
      if #members > MOST_MEMBERS then members = { word .. "(0)", "..." } end
      ask(request, "kernel.args", param.name .. " = at.struct { " .. table.concat(members, ", ") .. " }",
          param.text .. ", of " .. a.bytes .. " bytes")
    end
  end
  return args
end

-- ---- arguments that the pattern gives ----

local OTHER_BYTES = { bool = 1, pointer = 8 }
local FLOATING = { half = true, bfloat16 = true, float = true, double = true }

-- Tells whether the type of a given argument differs from the type that the kernel reads.
local function differ(type, taken)
  local function bytes(t) return OTHER_BYTES[t] or host.sizeof(t) end
  return bytes(type) ~= bytes(taken) or FLOATING[type] ~= FLOATING[taken]
end

-- Returns the element type of a buffer, or nil if it depends on the problem.
local function buffer_type(description, name)
  local b = type(name) == "string" and description.buffers[name]
  local dtype = type(b) == "table" and b.dtype
  return SCALARS[dtype] and dtype or nil
end

-- Checks a given list of arguments, which must have one for each parameter.
local function check_arguments(description, signature, params, given)
  if #given > #signature then
    fail({ "kernel", "args", #signature + 1 }, "the kernel takes only %d arguments; remove this one", #signature)
  elseif #given < #signature then
    fail({ "kernel", "args" }, "the kernel takes %d arguments, but only %d are given; the next is %s", #signature, #given,
         params[#given + 1].text)
  end
  for i, taken in ipairs(signature) do
    local path, v = { "kernel", "args", i }, given[i]
    local is_buffer = type(v) == "string" and description.buffers[v] ~= nil
    local scalar = type(v) == "table" and v[KIND] == "argument" and v.type or nil
    if taken.pointer and scalar and v.value ~= 0 then
      fail(path, "the kernel's parameter is a pointer, %s, but this argument is a number", params[i].text)
    elseif is_buffer and not taken.pointer and taken.type then
      fail(path, "the kernel's parameter is a number, %s, but this argument is a buffer", params[i].text)
    end
    local own = taken.pointer and buffer_type(description, v) or not taken.pointer and scalar or nil
    if own and taken.type == "pointer" and differ(own, "pointer") then
      fail(path, "the kernel's parameter is %s, a pointer to addresses, but this buffer has the type %s; give it "
        .. "dtype = \"uint64\"",
           params[i].text, own)
    end
    if own and taken.type and differ(own, taken.type) then
      fail(path, "the kernel's parameter is %s, of type %s, but this argument has the type %s", params[i].text, taken.type, own)
    end
  end
end

return {
  new_request = new_request, ask = ask, tell = tell, is_whole = is_whole,
  infer = infer_arguments, check = check_arguments, SCALARS = SCALARS, C_TYPES = C_TYPES, type_of = type_of, bytes_of = bytes_of, unit_of = unit_of,
}
