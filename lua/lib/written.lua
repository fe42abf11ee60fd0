-- Writes values in C, for ${...} of templates and for macros.

local written = {}

-- Returns the text of ${expression} for the value v.
function written.text(v, expression)
  if math.type(v) == "integer" or type(v) == "string" then return v end
  if math.type(v) == "float" then
    if v ~= v or v == math.huge or v == -math.huge then
      error("${" .. expression .. "} is not a finite number", 0)
    end
    local digits = string.format("%.15g", v)
    if tonumber(digits) ~= v then digits = string.format("%.17g", v) end
    if not string.find(digits, "[.e]") then digits = digits .. ".0" end
    return digits
  end
  if type(v) == "boolean" then return tostring(v) end
  error("${" .. expression .. "} is " .. (v == nil and "nil" or "a " .. type(v)), 0)
end

-- Returns the #define line of the macro `name` with the value v.
function written.definition(name, v)
  if type(v) == "boolean" then v = v and 1 or 0 end
  local digits = written.text(v, name)
  return "#define " .. name .. " " .. (type(v) == "number" and v < 0 and "(" .. digits .. ")" or digits)
end

return written
