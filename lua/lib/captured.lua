-- Completes a pattern from a captured launch of its kernel file (--captured DIR), so that the user need not answer
-- questions. Scalars get the values that the program passed; buffers of pointers get the memory contents at the launch.
-- The problem is fixed.

local host = ...

local check = host.own "check.lua"
local tolerance = host.own "tolerance.lua"
local fail, KIND = check.fail, check.KIND

-- Allowed distance of results, in representable values: approximate instructions differ between GPUs and the simulated device.
local ULPS = 8

local captured = {}

-- Returns the value of a scalar, or nil if a script cannot hold it.
local function decode(bytes, type)
  if type == "bool" then return host.unpack(bytes, "uint8") ~= 0 end
  local v = host.unpack(bytes, type)
  if v ~= v or v == math.huge or v == -math.huge then return nil end
  return v
end

local function is_zero(bytes) return not string.find(bytes, "[^\0]") end

--- Returns the captured launch, or nil.
function captured.launch() return host.captured() end

--- Returns "grid = { 64, 512 }, block = 64", as a script writes it.
function captured.show(launch)
  local function sides(v)
    local n = v[3] > 1 and 3 or v[2] > 1 and 2 or 1
    return n == 1 and tostring(v[1]) or "{ " .. table.concat(v, ", ", 1, n) .. " }"
  end
  return "grid = " .. sides(launch.grid) .. ", block = " .. sides(launch.block)
    .. (launch.shared > 0 and ", shared = " .. launch.shared or "")
end

local function refuse_setting(name, launch)
  for _, setting in ipairs(host.settings()) do
    if setting.name == name then
      host.fail(0, "--set " .. name .. ": the captured launch (" .. launch.path .. ") has its value, with data to go with it",
                true)
    end
  end
end

-- Returns a structure as a list of words, whose size divides the size of the structure. `buffers` has the buffers whose
-- addresses are in the structure, by offset.
local function struct_of(bytes, buffers)
  local width = #bytes % 8 == 0 and 8 or #bytes % 4 == 0 and 4 or 1
  local members, type = {}, ({ [8] = "uint64", [4] = "uint32", [1] = "uint8" })[width]
  for at = 0, #bytes - 1, width do
    local word = string.sub(bytes, at + 1, at + width)
    -- Scripts have no integers above 2^63 - 1, so words of 8 bytes are signed.
    local kind = width == 8 and "int64" or type
    members[#members + 1] = buffers[at] or { [KIND] = "argument", type = kind, value = host.unpack(word, kind) }
  end
  return { [KIND] = "struct", members = members }
end

local NOTHING = {}

-- Returns the number of elements, of `bytes` bytes each, behind the pointer `p`: the buffer's count, or else the value in
-- `sizes`. Without both, counts all elements up to the end of the allocation, and the second result is true.
local function elements_of(description, given, p, bytes, value_of)
  local size = (description.sizes or NOTHING)[p.name]
  local left = p.left_bytes // bytes
  if given.count ~= nil then size = given.count end
  if size == nil then
    if left == 0 then fail({}, "%s points to the end of its allocation, so it has no elements", p.what) end
    return left, true
  end
  local count = value_of(size)
  if math.type(count) ~= "integer" or count < 1 then
    fail({ "sizes", p.name }, " gives %s with the values of the captured launch; a number of elements is needed", check.show(size))
  end
  if count > left then
    fail({ "sizes", p.name }, " gives %d elements of %d bytes, but the memory behind %s holds only %d", count, bytes, p.what, left)
  end
  return count, false
end

-- Fills the buffer of a pointer with the memory contents before the launch. The contents after the launch become the
-- expected results.
local function fill_buffer(description, expected, p, value_of)
  local given = description.buffers[p.name] or {}
  if type(given) ~= "table" or given.fill ~= nil or given.values ~= nil then return end
  if given[KIND] == nil then
    given[KIND] = p.const and "input" or "inout"
    for _, output in ipairs(description.outputs or NOTHING) do
      if output == p.name then given[KIND] = "output" end
    end
  end
  local lanes, type, bytes = p.lanes, p.type, p.bytes
  if given.dtype ~= nil then
    lanes, type, bytes = 1, given.dtype, host.sizeof(given.dtype)
  elseif type == "bool" or type == nil or bytes == 0 then -- a buffer cannot have this element type
    lanes, type, bytes = 1, "uint8", 1
  end
  local count, is_rest = elements_of(description, given, p, bytes, value_of)
  description.buffers[p.name] = given
  given.dtype = type
  if is_rest then given.count = count * lanes end
  local role = given[KIND]
  if role == "input" or role == "inout" then
    given.fill = host.captured_file(p.argument, p.place, false, type, count * lanes)
    given.fill[KIND] = "file"
  end
  if role == "output" or role == "inout" then
    expected[p.name] = host.captured_file(p.argument, p.place, true, type, count * lanes)
    expected[p.name][KIND] = "file"
    local rounds = type == "float" or type == "double" or type == "half" or type == "bfloat16"
    if given.tolerance == nil and rounds and description.tolerance == nil then
      given.tolerance = tolerance.ulps(ULPS)
    end
  end
end

-- Returns all addresses among the arguments, in order, as { name, what, argument, place, at, address, left_bytes,
-- const, type, lanes, bytes }.
local function list_pointers(launch, signature, params, named)
  local list = {}
  for i, a in ipairs(signature) do
    local name = params[i].name
    for k, pointer in ipairs(named[name] == nil and launch.arguments[i].pointers or NOTHING) do
      list[#list + 1] = {
        name = a.pointer and name or name .. "_" .. pointer.at, argument = i, place = k, at = pointer.at,
        what = string.format("argument %d of the captured launch (%s)", i, params[i].text),
        address = pointer.address, left_bytes = pointer.left_bytes, const = a.pointer and a.const,
        type = a.pointer and a.type or nil, lanes = a.pointer and a.lanes or 1, bytes = a.pointer and a.bytes or 0,
      }
    end
  end
  return list
end

-- Lets pointers to the same address share a buffer. A buffer that the kernel may write ends where the next writable buffer
-- begins, so that each result belongs to one buffer.
local function share_memory(list)
  local owner = {}
  for _, const in ipairs { false, true } do
    for _, p in ipairs(list) do
      if (p.const or false) == const then
        owner[p.address] = owner[p.address] or p
        p.owner = owner[p.address]
      end
    end
  end
  for _, p in ipairs(list) do
    for _, q in ipairs(list) do
      local apart = q.address - p.address
      if not p.const and not q.const and apart > 0 and apart < p.left_bytes then p.left_bytes = apart end
    end
  end
end

-- Returns the last part of a mangled name: "mode" for "_ZN4deep4modeE".
local function last_part(mangled)
  local at, name = string.match(mangled, "^_ZN?L?()"), mangled
  while at do
    local digits = string.match(mangled, "^L?(%d+)", at)
    if not digits then break end
    at = string.find(mangled, digits, at, true) + #digits
    name = string.sub(mangled, at, at + math.tointeger(tonumber(digits)) - 1)
    at = at + #name
  end
  return name
end

--- Adds the module's variables that the kernel uses to kernel.constants, each with a buffer of its captured contents.
function captured.complete_constants(description, given, launch)
  if given.constants ~= nil then return end
  local constants = {}
  for i, v in ipairs(launch.variables) do
    if host.is_needed(last_part(v.name)) then
      local name = "captured_" .. i
      description.buffers[name] = { [KIND] = "input", dtype = "uint8", count = v.size_bytes, fill = host.captured_variable(i) }
      description.buffers[name].fill[KIND] = "file"
      constants[v.name], given.constants = name, constants
    end
  end
end

--- Completes description.problem, .buffers and .reference from the launch and the kernel's parameters. Adds scalars to
--- `known`. Adds null pointers, structures and pointers that share a buffer to `named`. `value_of` evaluates an expression
--- over `known`.
function captured.complete(description, launch, entry, signature, params, named, known, value_of)
  local base = string.match(string.match(entry, "^[^<]*"), "([%w_]+)%s*$")
  if not string.find(launch.kernel, "%f[%w_]" .. base .. "%f[^%w_]") then
    fail({}, "%s is a launch of %s, but the kernel to tune is %s: capture that kernel, or tune the captured one "
      .. "(--kernel)", launch.path, launch.kernel, entry)
  end
  if #launch.arguments ~= #signature then
    fail({}, "the captured launch of %s has %d arguments (%s), but the kernel takes %d: build the program from this "
      .. "file and capture again", launch.kernel,
         #launch.arguments, launch.path, #signature)
  end
  -- Scalars come first, because sizes of memory may depend on them.
  for i, a in ipairs(signature) do
    local one, name = launch.arguments[i], params[i].name
    local what = string.format("argument %d of the captured launch (%s)", i, params[i].text)
    if #one.bytes ~= (a.pointer and 8 or a.bytes) then
      fail({}, "%s has %d bytes, but the kernel's parameter has %d: build the program from this file and capture "
        .. "again", what, #one.bytes,
           a.pointer and 8 or a.bytes)
    elseif not a.pointer and named[name] == nil and name ~= "" and a.type and a.lanes == 1 then
      local v = decode(one.bytes, a.type)
      if v == nil then fail({}, "%s is not a finite number, so it cannot be a variable of the problem", what) end
      refuse_setting(name, launch)
      description.problem[name], known[name] = v, v
    end
  end
  local expected, has_results = {}, false
  local pointers = list_pointers(launch, signature, params, named)
  share_memory(pointers)
  for _, p in ipairs(pointers) do
    if p.owner == p then fill_buffer(description, expected, p, value_of) end
  end
  for i, a in ipairs(signature) do
    local one, name, buffers = launch.arguments[i], params[i].name, {}
    for _, p in ipairs(pointers) do
      if p.argument == i then buffers[p.at] = p.owner.name end
    end
    if named[name] == nil and not a.pointer and (not a.type or a.lanes > 1) then
      named[name] = struct_of(one.bytes, buffers)
    elseif named[name] == nil and a.pointer and buffers[0] and buffers[0] ~= name then
      named[name] = buffers[0]
    elseif named[name] == nil and a.pointer and not buffers[0] then
      if not is_zero(one.bytes) then
        fail({}, "argument %d of the captured launch (%s) is an address outside the captured memory", i, params[i].text)
      end
      named[name] = { [KIND] = "argument", type = "uint64", value = 0 }
    end
  end
  for _ in pairs(expected) do has_results = true end
  if description.reference == nil and has_results then description.reference = expected end
end

return captured
