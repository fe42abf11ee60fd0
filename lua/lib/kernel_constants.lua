-- Handles __constant__ and __device__ variables that have no value in the kernel's file. In a program, host code sets
-- these before a launch, so a pattern has to say how they are filled.

local host = ...

local check = host.own "check.lua"
local arguments = host.own "kernel_arguments.lua"
local early = host.own "early.lua"
local kernel = host.own "kernel.lua"
local KIND = check.KIND

local constants = {}

-- Returns the number of elements, such as "17" or "RADIUS + 1"; nil if the file does not determine it.
local function count_of(extents)
  local factors = {}
  for _, e in ipairs(extents) do factors[#factors + 1] = early.macro_expression(e) or nil end
  if #factors < #extents or #factors == 0 then return #extents == 0 and "1" or nil end
  return #factors == 1 and factors[1] or "(" .. table.concat(factors, ") * (") .. ")"
end

--- Adds a buffer for each variable that `sizes`, `buffers` or `outputs` name; variables in `outputs` are compared. If
--- the pattern fills no constants, warns that all other variables are zero.
function constants.complete(description, request, given, facts, file)
  local sizes = description.sizes or {}
  local filled = type(given.constants) == "table" and given.constants or {}
  local results = {}
  for _, name in ipairs(description.outputs or {}) do results[name] = true end
  for _, v in ipairs(host.variables()) do
    local buffer = description.buffers[v.name]
    local is_named = sizes[v.name] ~= nil or type(buffer) == "table"
    local is_result = results[v.name] or type(buffer) == "table" and buffer[KIND] ~= "input"
    if filled[v.name] == nil and (is_named and not v.has_value or is_result) then
      local dtype, lanes = arguments.type_of(v.type)
      buffer = buffer or { [KIND] = is_result and "output" or "input" }
      buffer[kernel.PLACE] = sizes[v.name] ~= nil and { "sizes", v.name } or nil
      buffer.dtype = buffer.dtype or dtype
      if buffer.count == nil and sizes[v.name] ~= nil then
        buffer.count = "(" .. tostring(sizes[v.name]) .. ") * " .. (lanes or 1)
      elseif buffer.count == nil and is_result then
        local count = count_of(v.extents)
        buffer.count = count and "(" .. count .. ") * " .. (lanes or 1)
      end
      if buffer.dtype == nil or buffer.count == nil then
        arguments.ask(request, "buffers", v.name .. " = at." .. buffer[KIND] .. " { dtype = \"float\", count = \"" .. (count_of(v.extents) or "n") .. "\" }",
                      "what " .. v.type .. " " .. v.name .. " holds")
      end
      description.buffers[v.name] = buffer
      filled[v.name] = v.name
      given.constants = filled
    elseif filled[v.name] == nil and given.constants == nil and not v.has_value then
      host.warn(check.line_of { "launch" }, string.format(
        "nothing fills %s (%s:%d), so it is zero; sizes = { %s = \"%s\" } fills it like an input, outputs = { "
          .. "\"%s\" } compares it", v.name, v.file, v.line, v.name, count_of(v.extents) or "n", v.name))
    end
  end
end

return constants
