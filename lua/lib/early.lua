-- Evaluates expressions before the pattern exists, for example with the baseline's values. No function here fails. An
-- expression that has no value yet, or that reads `device`, has the value nil.

local host = ...

local check = host.own "check.lua"
local KIND = check.KIND

-- Reads a value as C writes it: 128, 16u, (2), 0.5f, float4.
local function parse_c(text)
  text = string.gsub(text, "^%s*%((.*)%)%s*$", "%1")
  local digits = string.match(text, "^(-?%d+)[uUlL]*$") or string.match(text, "^(-?[%d.]+[eE]?-?%d*)[fF]?$")
  local v = host.parse(digits or text)
  return v
end

local function is_empty(t)
  for _ in pairs(t) do return false end
  return true
end

local function copied(values)
  local copy = {}
  for name, v in pairs(values) do copy[name] = v end
  return copy
end

-- Returns a table from each parameter's name to its list of values, and the names in order. For at.when, the list is its
-- `values`. For a single value, the list has this value.
local function read_space(given)
  local values, names = {}, {}
  if type(given) ~= "table" then return values, names end
  local function add(name, v)
    if type(name) ~= "string" then return end
    names[#names + 1] = name
    while type(v) == "table" and v[KIND] == "when" do v = v.values end
    values[name] = type(v) == "table" and v or { v }
  end
  if #given > 0 then
    for _, pair in ipairs(given) do
      if type(pair) == "table" then add(pair[1], pair[2]) end
    end
  else
    for _, name in ipairs(check.ordered_keys(given, { "space" })) do add(name, given[name]) end
  end
  return values, names
end

local function default_of(v)
  if type(v) ~= "table" then return v end
  if v[KIND] == "within" then return v.default end
  return type(v.values) == "table" and v.values[1] or nil
end

local helpers = host.helpers()

-- Iterates over the names in an expression.
local function names_in(text)
  return string.gmatch(text, "%f[%w_][%a_][%w_]*")
end

-- Returns a copy of `values` with the defaults of the problem's variables added.
local function with_problem(values, description)
  local all = copied(values)
  for name, v in pairs(description.problem) do all[name] = default_of(v) end
  return all
end

-- Returns the derived values of a description, or an empty table.
local function derived_of(description)
  return type(description.derived) == "table" and description.derived or {}
end

local function where_of(description)
  return type(description.where) == "table" and description.where or { description.where }
end

-- Returns the value of an expression in `scope`, or nil.
local function evaluate(expression, scope)
  if type(expression) ~= "string" then return expression end
  local f = host.load("local _ENV = ...; return (" .. expression .. "\n)", "=expression")
  if not f then return nil end
  return host.try(f, scope)
end

-- Returns a macro's text as an expression if it has only whole numbers, operators and names, such as 8 * WARP.
local function macro_expression(text)
  if text == "" or string.find(text, "[^%w_%s()+%-*/%%<>&|~]") then return nil end
  text = string.gsub(string.gsub(text, "(%f[%w_]%d+)[uUlL]+%f[^%w_]", "%1"), "/", "//")
  return host.load("return " .. text, "=macro") and text
end

-- Returns the number that a macro expands to, or nil.
local function macro_value(text, macros, depth)
  local expression = depth <= 8 and macro_expression(text)
  if not expression then return nil end
  local scope = {}
  for name in names_in(text) do
    if macros[name] then scope[name] = macro_value(macros[name].value, macros, depth + 1) end
  end
  return evaluate(expression, scope)
end

local function scope_of(values, derived)
  local scope = {}
  for name, v in pairs(helpers) do scope[name] = v end
  for name, v in pairs(values) do scope[name] = v end
  -- Derived values may read each other, in any order, so several rounds are needed.
  for _ = 1, 4 do
    for name, e in pairs(derived) do
      if scope[name] == nil then scope[name] = evaluate(e, scope) end
    end
  end
  return scope
end

-- Splits a C++ list at commas outside of brackets. With `angles`, < and > are also brackets.
local function split(text, angles)
  local parts, depth, from = {}, 0, 1
  local open, close = angles and "([{<" or "([{", angles and ")]}>" or ")]}"
  text = string.gsub(text, "/%*.-%*/", "")
  for i = 1, #text do
    local c = string.sub(text, i, i)
    if string.find(open, c, 1, true) then depth = depth + 1 end
    if string.find(close, c, 1, true) then depth = depth - 1 end
    if c == "," and depth == 0 then
      parts[#parts + 1] = string.sub(text, from, i - 1)
      from = i + 1
    end
  end
  parts[#parts + 1] = string.sub(text, from)
  for i, part in ipairs(parts) do parts[i] = string.match(part, "^%s*(.-)%s*$") end
  return parts
end

return {
  split = split, parse_c = parse_c, macro_expression = macro_expression, macro_value = macro_value, is_empty = is_empty, copied = copied,
  read_space = read_space, default_of = default_of, names_in = names_in, with_problem = with_problem, derived_of = derived_of,
  where_of = where_of, helpers = helpers, evaluate = evaluate, scope_of = scope_of,
}
