-- A captured launch of the kernel in a file (--captured DIR): what it says takes the place of what would be asked
-- for. Scalars are the values that the program passed, pointers the memory that it had; the problem is fixed.

local host = ...

local check = host.own "check.lua"
local fail, KIND = check.fail, check.KIND

local captured = {}

-- The value of a scalar; nil: it is none that a script can hold.
local function decode(bytes, type)
  if type == "bool" then return host.unpack(bytes, "uint8") ~= 0 end
  local v = host.unpack(bytes, type)
  if v ~= v or v == math.huge or v == -math.huge then return nil end
  return v
end

local function is_zero(bytes) return not string.find(bytes, "[^\0]") end

--- The launch, nil where there is none. What it says of the grid and the block may stand in messages.
function captured.launch() return host.captured() end

--- "grid = { 64, 512 }, block = 64": as a script writes it.
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

-- A structure by value, as words of the size that it is a multiple of.
local function struct_of(bytes)
  local width = #bytes % 8 == 0 and 8 or #bytes % 4 == 0 and 4 or 1
  local members, type = {}, ({ [8] = "uint64", [4] = "uint32", [1] = "uint8" })[width]
  for at = 1, #bytes, width do
    members[#members + 1] = { [KIND] = "argument", type = type, value = host.unpack(string.sub(bytes, at, at + width - 1), type) }
  end
  return { [KIND] = "struct", members = members }
end

local function complete_pointer(description, one, a, name, what)
  if not one.before then
    if is_zero(one.bytes) then return { [KIND] = "argument", type = "uint64", value = 0 } end
    fail({}, "%s is an address of no memory that was captured", what)
  end
  if description.sizes == nil then description.sizes = {} end
  local bytes = a.bytes
  if bytes == 0 or not a.type or a.type == "bool" and bytes ~= 1 then
    -- The type says nothing of elements.
    local buffers = description.buffers
    if buffers[name] == nil then
      buffers[name] = { [KIND] = a.const and "input" or "inout", dtype = "uint8", count = one.left_bytes }
    end
    return nil
  end
  if description.sizes[name] == nil and type(description.buffers[name] or {}) == "table"
      and (description.buffers[name] or {}).count == nil then
    if one.left_bytes < bytes then fail({}, "%s points at the end of its memory", what) end
    description.sizes[name] = one.left_bytes // bytes
  end
  return nil
end

--- Completes description.problem, .sizes and .buffers from the launch, by the kernel's parameters; `named` gets the
--- arguments that are no variable: null pointers and structures. `known` gets the variables.
function captured.complete(description, launch, entry, signature, params, named, known)
  local base = string.match(string.match(entry, "^[^<]*"), "([%w_]+)%s*$")
  if not string.find(launch.kernel, "%f[%w_]" .. base .. "%f[^%w_]") then
    fail({}, "%s has a launch of %s, and this is the kernel %s", launch.path, launch.kernel, entry)
  end
  if #launch.arguments ~= #signature then
    fail({}, "the captured launch of %s has %d arguments (%s), and the kernel takes %d", launch.kernel,
         #launch.arguments, launch.path, #signature)
  end
  for i, a in ipairs(signature) do
    local one, name = launch.arguments[i], params[i].name
    local what = string.format("argument %d of the captured launch (%s)", i, params[i].text)
    if a.pointer then
      if #one.bytes ~= 8 then fail({}, "%s has %d bytes", what, #one.bytes) end
      if named[name] == nil then named[name] = complete_pointer(description, one, a, name, what) end
    elseif #one.bytes ~= a.bytes then
      fail({}, "%s has %d bytes, and the kernel's has %d: was the program built from this file?", what, #one.bytes, a.bytes)
    elseif one.holds_pointers then
      fail({}, "%s is a structure that holds addresses: such a kernel can be proven ('autotune check --captured %s'), "
           .. "not tuned; let it take the pointers as arguments", what, launch.path)
    elseif named[name] == nil and (not a.type or a.lanes > 1) then
      named[name] = struct_of(one.bytes)
    elseif named[name] == nil and name ~= "" then
      local v = decode(one.bytes, a.type)
      if v == nil then fail({}, "%s is no finite number", what) end
      refuse_setting(name, launch)
      description.problem[name], known[name] = v, v
    end
  end
end

return captured
