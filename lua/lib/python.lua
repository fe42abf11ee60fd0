-- Python's expressions, and what they give; python_expression.lua has them as expressions of this project.
--
-- Values are Lua's; lists, tuples and ranges are lists, None is python.NONE. Whole numbers have 64
-- bits: what needs more is refused. `fail(message)` is called with what is wrong and does not return.

local host = ...

local python = { NONE = {} }
local NONE = python.NONE

local function kind(v)
  if v == NONE then return "None" end
  if math.type(v) == "integer" then return "whole number" end
  return type(v) == "table" and "list" or type(v) == "string" and "text" or type(v)
end

local function truth(v)
  if v == NONE then return false end
  if type(v) == "number" then return v ~= 0 end
  if type(v) == "string" then return v ~= "" end
  if type(v) == "table" then return #v > 0 end
  return v
end

-- ---- what an expression gives ----

-- Adds the items of a list to another.
local function append(to, list)
  for _, one in ipairs(list) do to[#to + 1] = one end
  return to
end

local function number(v, fail)
  if type(v) == "boolean" then return v and 1 or 0 end
  if type(v) ~= "number" then fail("a " .. kind(v) .. " is no number") end
  return v
end

local function whole(v, fail)
  v = number(v, fail)
  if math.type(v) ~= "integer" then fail(v .. " is not whole") end
  return v
end

local function both_whole(a, b)
  return math.type(a) == "integer" and math.type(b) == "integer"
end

local function finite(v, fail)
  if v ~= v or v == math.huge or v == -math.huge then fail("a result is not finite") end
  return v
end

local function too_large(fail)
  fail("a whole number does not fit in 64 bits")
end

local function add(a, b, fail)
  local sum = a + b
  if both_whole(a, b) and (a ~ sum) & (b ~ sum) < 0 then too_large(fail) end
  return finite(sum, fail)
end

local function multiply(a, b, fail)
  if both_whole(a, b) and math.abs(a * 1.0 * b) > 9.2e18 then too_large(fail) end
  return finite(a * b, fail)
end

local function power(a, b, fail)
  if not both_whole(a, b) or b < 0 then
    if a == 0 and b < 0 then fail("0 to a negative power") end
    if a < 0 and b ~= math.floor(b) then fail("a power is a complex number") end
    return finite((a + 0.0) ^ b, fail)
  end
  local result = 1
  while b > 0 do
    if b % 2 == 1 then result = multiply(result, a, fail) end
    b = b // 2
    if b > 0 then a = multiply(a, a, fail) end
  end
  return result
end

local function floor_divide(a, b, fail)
  if b == 0 then fail("there is a division by zero") end
  if both_whole(a, b) then return a // b end
  local quotient = (a - a % b) / b
  local down = math.floor(quotient) + 0.0
  return quotient - down > 0.5 and down + 1.0 or down
end

local ARITHMETIC = {
  ["+"] = add,
  ["-"] = function(a, b, fail)
    if both_whole(a, b) and (a ~ b) & (a ~ (a - b)) < 0 then too_large(fail) end
    return finite(a - b, fail)
  end,
  ["*"] = multiply,
  ["/"] = function(a, b, fail)
    if b == 0 then fail("there is a division by zero") end
    return a / b
  end,
  ["//"] = floor_divide,
  ["%"] = function(a, b, fail)
    if b == 0 then fail("there is a remainder of a division by zero") end
    return a % b
  end,
  ["**"] = power,
}

local BITS = {
  ["|"] = function(a, b) return a | b end,
  ["&"] = function(a, b) return a & b end,
  ["^"] = function(a, b) return a ~ b end,
  ["<<"] = function(a, b, fail)
    if b < 0 then fail("a shift is negative") end
    if b > 62 and a ~= 0 then too_large(fail) end
    return a == 0 and 0 or multiply(a, 1 << b, fail)
  end,
  [">>"] = function(a, b, fail)
    if b < 0 then fail("a shift is negative") end
    return b > 62 and (a < 0 and -1 or 0) or a // (1 << b)
  end,
}

local function equal(a, b)
  if type(a) == "boolean" and type(b) == "number" then a = a and 1 or 0 end
  if type(b) == "boolean" and type(a) == "number" then b = b and 1 or 0 end
  if type(a) ~= "table" or type(b) ~= "table" or a == NONE or b == NONE then return a == b end
  if #a ~= #b then return false end
  for i = 1, #a do
    if not equal(a[i], b[i]) then return false end
  end
  return true
end

local function less(a, b, fail)
  if type(a) == "string" and type(b) == "string" then return a < b end
  return number(a, fail) < number(b, fail)
end

local function contains(list, v, fail)
  if type(list) == "string" and type(v) == "string" then
    return string.find(list, v, 1, true) ~= nil
  end
  if kind(list) ~= "list" then fail("'in' needs a list") end
  for _, one in ipairs(list) do
    if equal(one, v) then return true end
  end
  return false
end

local COMPARISONS = {
  ["=="] = function(a, b) return equal(a, b) end,
  ["!="] = function(a, b) return not equal(a, b) end,
  ["<"] = less,
  [">"] = function(a, b, fail) return less(b, a, fail) end,
  -- There is no value here that is not comparable with itself.
  ["<="] = function(a, b, fail) return not less(b, a, fail) end,
  [">="] = function(a, b, fail) return not less(a, b, fail) end,
  ["in"] = function(a, b, fail) return contains(b, a, fail) end,
  ["not in"] = function(a, b, fail) return not contains(b, a, fail) end,
}

local function binary(op, a, b, fail)
  if COMPARISONS[op] then return COMPARISONS[op](a, b, fail) end
  if BITS[op] then
    local result = BITS[op](whole(a, fail), whole(b, fail), fail)
    if type(a) == "boolean" and type(b) == "boolean" and op ~= "<<" and op ~= ">>" then
      return result == 1
    end
    return result
  end
  if op == "+" and type(a) == "string" and type(b) == "string" then return a .. b end
  if op == "+" and kind(a) == "list" and kind(b) == "list" then
    return append(append({}, a), b)
  end
  if op == "*" and kind(a) == "list" then
    local repeated = {}
    for _ = 1, #a > 0 and whole(b, fail) or 0 do append(repeated, a) end
    return repeated
  end
  return ARITHMETIC[op](number(a, fail), number(b, fail), fail)
end

local function rounded_to_zero(v, fail)
  if type(v) == "string" then
    if not string.find(v, "^%s*[+-]?%d+%s*$") then fail("'" .. v .. "' is no whole number") end
    return math.tointeger(tonumber(v)) or too_large(fail)
  end
  v = number(v, fail)
  local towards = v < 0 and math.ceil(v) or math.floor(v)
  return math.tointeger(towards) or too_large(fail)
end

local function listed(v, fail)
  if kind(v) ~= "list" then fail("a " .. kind(v) .. " is no list") end
  return v
end

-- min and max: of a list, or of several arguments.
local function extreme(is_before)
  return function(args, fail)
    local list = #args == 1 and listed(args[1], fail) or args
    if #list == 0 then fail("the least or the most of nothing") end
    local best = list[1]
    for i = 2, #list do
      if is_before(list[i], best, fail) then best = list[i] end
    end
    return best
  end
end

local function of_one(f)
  return function(args, fail)
    if #args ~= 1 then fail("a function of one argument has " .. #args) end
    return f(args[1], fail)
  end
end

local MOST_ITEMS = 1 << 20

local function range(args, fail)
  if #args == 0 or #args > 3 then fail("range() takes one to three arguments") end
  local first, last, step = 0, whole(args[1], fail), 1
  if #args > 1 then first, last = last, whole(args[2], fail) end
  if #args > 2 then step = whole(args[3], fail) end
  if step == 0 then fail("the step of a range is 0") end
  local list = {}
  for v = first, last + (step > 0 and -1 or 1), step do
    if #list == MOST_ITEMS then fail("a range has more than " .. MOST_ITEMS .. " values") end
    list[#list + 1] = v
  end
  return list
end

local function same_list(v, fail)
  return append({}, listed(v, fail))
end

local function nearest_even(v, fail)
  v = number(v, fail)
  local down = math.floor(v)
  local rest = v - down
  local up = rest > 0.5 or rest == 0.5 and down % 2 == 1
  return math.tointeger(up and down + 1 or down) or too_large(fail)
end

local function logarithm(base)
  return of_one(function(v, fail)
    v = number(v, fail)
    if v <= 0 then fail("the logarithm of what is not positive") end
    return math.log(v + 0.0, base)
  end)
end

local FUNCTIONS = {
  range = range,
  list = of_one(same_list),
  tuple = of_one(same_list),
  sorted = of_one(function(v, fail)
    local list = same_list(v, fail)
    table.sort(list, function(a, b) return less(a, b, fail) end)
    return list
  end),
  len = of_one(function(v, fail)
    if type(v) == "string" then return #string.gsub(v, "[\x80-\xbf]", "") end
    return #listed(v, fail)
  end),
  min = extreme(less),
  max = extreme(function(a, b, fail) return less(b, a, fail) end),
  sum = of_one(function(v, fail)
    local sum = 0
    for _, one in ipairs(listed(v, fail)) do sum = add(sum, number(one, fail), fail) end
    return sum
  end),
  any = of_one(function(v, fail)
    for _, one in ipairs(listed(v, fail)) do
      if truth(one) then return true end
    end
    return false
  end),
  all = of_one(function(v, fail)
    for _, one in ipairs(listed(v, fail)) do
      if not truth(one) then return false end
    end
    return true
  end),
  abs = of_one(function(v, fail)
    v = number(v, fail)
    return v == math.mininteger and too_large(fail) or math.abs(v)
  end),
  int = of_one(rounded_to_zero),
  float = of_one(function(v, fail)
    local typed = type(v) == "string" and string.find(v, "^[%s%d.eE+-]+$") and tonumber(v)
    return finite((typed or number(v, fail)) + 0.0, fail)
  end),
  bool = of_one(truth),
  round = of_one(nearest_even),
  pow = function(args, fail)
    if #args ~= 2 then fail("pow() takes two arguments") end
    return power(number(args[1], fail), number(args[2], fail), fail)
  end,
  ceil = of_one(function(v, fail) return math.tointeger(math.ceil(number(v, fail))) or too_large(fail) end),
  floor = of_one(function(v, fail) return math.tointeger(math.floor(number(v, fail))) or too_large(fail) end),
  sqrt = of_one(function(v, fail)
    v = number(v, fail)
    if v < 0 then fail("the root of what is negative") end
    return (v + 0.0) ^ 0.5
  end),
  log2 = logarithm(2),
}

-- Those that Python has in `math` alone.
local IN_MATH = { ceil = true, floor = true, sqrt = true, log2 = true, pow = true }

-- `ceil` of math.ceil and of ceil; nil: the function has no such name.
local function function_name(node)
  if node.op == "name" then return node.name end
  local in_math = node.op == "field" and node[1].op == "name" and IN_MATH[node.name]
  local from = in_math and node[1].name
  return (from == "math" or from == "np" or from == "numpy") and node.name or nil
end

local evaluate

local function index(list, place, fail)
  if kind(list) ~= "list" and type(list) ~= "string" then fail("a " .. kind(list) .. " has no items") end
  local at = whole(place, fail)
  if at < 0 then at = at + #list end
  if at < 0 or at >= #list then fail("there is no item " .. place .. " of " .. #list) end
  if type(list) == "string" then return string.sub(list, at + 1, at + 1) end
  return list[at + 1]
end

-- Adds what the node gives for each value of its name to `list`.
local function add_each(node, names, fail, list)
  local outer = names[node.name]
  for _, v in ipairs(listed(evaluate(node[2], names, fail), fail)) do
    names[node.name] = v
    if truth(evaluate(node[3], names, fail)) then
      if node[1].op == "each" then
        add_each(node[1], names, fail, list)
      else
        list[#list + 1] = evaluate(node[1], names, fail)
      end
    end
    names[node.name] = outer
  end
  return list
end

local function call(node, names, fail)
  local name = function_name(node[1])
  local f = name and FUNCTIONS[name]
  if not f or node[1].op == "name" and names[name] ~= nil then
    fail("there is no function " .. (node[1].name ~= "" and node[1].name .. "()" or "here"))
  end
  local args = {}
  for i = 2, #node do args[i - 1] = evaluate(node[i], names, fail) end
  return f(args, fail)
end

local function value_of(node) return node.value end

local EVALUATE = {
  none = function() return NONE end,
  truth = value_of,
  whole = value_of,
  number = function(node, _, fail) return finite(node.value, fail) end,
  text = function(node) return node.name end,
  name = function(node, names, fail)
    local v = names[node.name]
    if v == nil then fail("there is no '" .. node.name .. "'") end
    return v
  end,
  field = function(node, _, fail) fail("there is no ." .. node.name) end,
  call = call,
  items = function(node, names, fail)
    if #node == 1 and node[1].op == "each" then return add_each(node[1], names, fail, {}) end
    local list = {}
    for i = 1, #node do list[i] = evaluate(node[i], names, fail) end
    return list
  end,
  index = function(node, names, fail)
    return index(evaluate(node[1], names, fail), evaluate(node[2], names, fail), fail)
  end,
  choice = function(node, names, fail)
    return evaluate(truth(evaluate(node[1], names, fail)) and node[2] or node[3], names, fail)
  end,
  ["or"] = function(node, names, fail)
    local v = evaluate(node[1], names, fail)
    if truth(v) then return v end
    return evaluate(node[2], names, fail)
  end,
  ["and"] = function(node, names, fail)
    local v = evaluate(node[1], names, fail)
    if not truth(v) then return v end
    return evaluate(node[2], names, fail)
  end,
  ["not"] = function(node, names, fail) return not truth(evaluate(node[1], names, fail)) end,
  negate = function(node, names, fail)
    local v = number(evaluate(node[1], names, fail), fail)
    return v == math.mininteger and too_large(fail) or -v
  end,
  plus = function(node, names, fail) return number(evaluate(node[1], names, fail), fail) end,
  ["~"] = function(node, names, fail) return ~whole(evaluate(node[1], names, fail), fail) end,
}

--- What the tree gives, with the values that `names` has.
function evaluate(node, names, fail)
  local f = EVALUATE[node.op]
  if f then return f(node, names, fail) end
  local a = evaluate(node[1], names, fail)
  return binary(node.op, a, evaluate(node[2], names, fail), fail)
end
python.evaluate, python.truth = evaluate, truth

--- The tree of a text (host.python).
function python.read(text, fail)
  local tree, wrong = host.python(text)
  if not tree then fail(wrong) end
  return tree
end

--- What the tree reads: a set of names, without those of functions and of a list's own variables.
function python.names(node, found)
  found = found or {}
  if node.op == "name" then found[node.name] = true end
  if node.op == "each" then
    local inner = python.names(node[1], {})
    python.names(node[3], inner)
    inner[node.name] = nil
    for name in pairs(inner) do found[name] = true end
    return python.names(node[2], found)
  end
  for i = 1, #node do
    if i > 1 or node.op ~= "call" or not function_name(node[1]) then python.names(node[i], found) end
  end
  return found
end

python.kind, python.listed, python.function_name = kind, listed, function_name

return python
