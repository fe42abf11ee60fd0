-- Python's expressions: what they give, and as expressions of this project.
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

-- ---- as expressions of this project ----

-- A value as an expression spells it; numbers that are negative in brackets.
local function literal(v, fail)
  if type(v) == "string" then return string.format("%q", v), "text" end
  if type(v) == "boolean" then return tostring(v), "truth" end
  if type(v) ~= "number" then fail("a " .. kind(v) .. " is no value here") end
  local text = math.type(v) == "integer" and tostring(v) or string.format("%.17g", v)
  if math.type(v) == "float" and not string.find(text, "[.e]") then text = text .. ".0" end
  return v < 0 and "(" .. text .. ")" or text, math.type(v) == "integer" and "whole" or "number"
end

-- Does the tree read one of the names? Variables of a list's own do not count.
local function reads(node, names, known)
  if known[node] == nil then
    local found = node.op == "name" and names[node.name] ~= nil
    for i = 1, #node do found = reads(node[i], names, known) or found end
    known[node] = found
  end
  return known[node]
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

local translate

local function as_number(text, of, fail)
  if of == "truth" then return "(" .. text .. " and 1 or 0)", "whole" end
  if of == "text" then fail("a text is no number") end
  return text, of
end

local function as_truth(text, of)
  if of == "truth" then return text end
  return "(" .. text .. " ~= " .. (of == "text" and '""' or "0") .. ")"
end

local function truth_text(node, scope)
  if node.op == "and" or node.op == "or" then
    return "(" .. truth_text(node[1], scope) .. " " .. node.op .. " " .. truth_text(node[2], scope) .. ")"
  end
  if node.op == "not" then return "(not " .. truth_text(node[1], scope) .. ")" end
  return as_truth(translate(node, scope))
end

-- Two texts of one type, for what chooses between them.
local function alike(a, of_a, b, of_b, fail)
  if of_a == of_b then return a, b, of_a end
  local first, second
  first, of_a = as_number(a, of_a, fail)
  second, of_b = as_number(b, of_b, fail)
  return first, second, of_a == of_b and of_a or "number"
end

local function choose(condition, a, of_a, b, of_b, fail)
  local first, second, of = alike(a, of_a, b, of_b, fail)
  -- A truth may be false, after which `or` would go on.
  if of == "truth" then
    return string.format("(%s and %s or not %s and %s)", condition, first, condition, second), of
  end
  return string.format("(%s and %s or %s)", condition, first, second), of
end

local LUA_COMPARISONS = {
  ["=="] = "==", ["!="] = "~=", ["<"] = "<", ["<="] = "<=", [">"] = ">", [">="] = ">=",
}

local function compare(op, a, of_a, b, of_b, fail)
  if of_a ~= of_b or of_a == "truth" and op ~= "==" and op ~= "!=" then
    -- A text and a number are never equal; what else is asked of the two has no answer.
    if (of_a == "text" or of_b == "text") and (op == "==" or op == "!=") then
      return tostring(op == "!="), "truth"
    end
    a, b = as_number(a, of_a, fail), as_number(b, of_b, fail)
  end
  return "(" .. a .. " " .. LUA_COMPARISONS[op] .. " " .. b .. ")", "truth"
end

local function membership(node, scope)
  local fail, list = scope.fail, node[2]
  local a, of_a = translate(node[1], scope)
  local parts = {}
  if not reads(list, scope.types, scope.known) then
    local value = evaluate(list, scope.values, fail)
    if type(value) == "string" then
      if of_a ~= "text" then fail("'in' a text needs a text") end
      return string.format("(string.find(%q, %s, 1, true) ~= nil)", value, a), "truth"
    end
    for i, v in ipairs(listed(value, fail)) do
      local b, of_b = literal(v, fail)
      parts[i] = compare("==", a, of_a, b, of_b, fail)
    end
  elseif list.op == "items" and (not list[1] or list[1].op ~= "each") then
    for i = 1, #list do
      local b, of_b = translate(list[i], scope)
      parts[i] = compare("==", a, of_a, b, of_b, fail)
    end
  else
    fail("'in' needs a list here")
  end
  return #parts > 0 and "(" .. table.concat(parts, " or ") .. ")" or "false", "truth"
end

-- The least that a whole number can be; nil: not known.
local function least(node, scope)
  if not reads(node, scope.types, scope.known) then
    local v = evaluate(node, scope.values, scope.fail)
    return math.type(v) == "integer" and v or type(v) == "boolean" and 0 or nil
  end
  if node.op == "name" then
    local of = scope.types[node.name]
    local values = scope.lists and scope.lists[node.name]
    if of ~= "whole" then return of == "truth" and 0 or nil end
    return values and math.min(table.unpack(values))
  end
  if node.op ~= "+" and node.op ~= "*" then return nil end
  local a, b = least(node[1], scope), least(node[2], scope)
  if not a or not b or a < 0 or b < 0 then return nil end
  return node.op == "+" and a + b or a * b
end

local function arithmetic(node, scope)
  local fail, op = scope.fail, node.op
  local a, of_a = translate(node[1], scope)
  local b, of_b = translate(node[2], scope)
  if op == "+" and of_a == "text" and of_b == "text" then return "(" .. a .. " .. " .. b .. ")", "text" end
  if of_a == "truth" and of_b == "truth" and (op == "&" or op == "|" or op == "^") then
    local of_truths = { ["&"] = "and", ["|"] = "or", ["^"] = "~=" }
    return "(" .. a .. " " .. of_truths[op] .. " " .. b .. ")", "truth"
  end
  a, of_a = as_number(a, of_a, fail)
  b, of_b = as_number(b, of_b, fail)
  local are_whole = of_a == "whole" and of_b == "whole"
  if BITS[op] then
    if not are_whole then fail(op .. " needs whole numbers") end
    if op == ">>" then return "(" .. a .. " // (1 << " .. b .. "))", "whole" end
    return "(" .. a .. " " .. (op == "^" and "~" or op) .. " " .. b .. ")", "whole"
  end
  if op == "//" and not are_whole then
    return string.format("floor((%s - %s %% %s) / %s + 0.5)", a, a, b, b), "number"
  end
  if op == "**" then
    local is_whole = are_whole and (least(node[2], scope) or -1) >= 0
    return string.format(is_whole and "floor(%s ^ %s)" or "(%s ^ %s)", a, b), is_whole and "whole" or "number"
  end
  return "(" .. a .. " " .. op .. " " .. b .. ")", are_whole and op ~= "/" and "whole" or "number"
end

local function translate_numbers(node, scope)
  local list, of = {}, "whole"
  local from = node
  local first = 2
  if #node == 2 and node[2].op == "items" and not (node[2][1] and node[2][1].op == "each") then
    from, first = node[2], 1
  end
  for i = first, #from do
    local text, of_text = translate(from[i], scope)
    list[#list + 1], of_text = as_number(text, of_text, scope.fail)
    if of_text ~= "whole" then of = "number" end
  end
  if #list == 0 then scope.fail("the least or the most of nothing") end
  return list, of
end

local TRANSLATED = {
  min = function(node, scope)
    local list, of = translate_numbers(node, scope)
    return "min(" .. table.concat(list, ", ") .. ")", of
  end,
  max = function(node, scope)
    local list, of = translate_numbers(node, scope)
    return "max(" .. table.concat(list, ", ") .. ")", of
  end,
  abs = function(text, of) return "abs(" .. text .. ")", of end,
  floor = function(text) return "floor(" .. text .. ")", "whole" end,
  ceil = function(text) return "ceil(" .. text .. ")", "whole" end,
  float = function(text) return "(" .. text .. " + 0.0)", "number" end,
  sqrt = function(text) return "(" .. text .. " ^ 0.5)", "number" end,
  log2 = function(text) return "math.log(" .. text .. ", 2)", "number" end,
  int = function(text, of)
    if of == "whole" then return text, of end
    return string.format("(%s < 0 and ceil(%s) or floor(%s))", text, text, text), "whole"
  end,
}

local function translate_call(node, scope)
  local name, fail = function_name(node[1]), scope.fail
  if name == "bool" and #node == 2 then return truth_text(node[2], scope), "truth" end
  local f = name and TRANSLATED[name]
  if not f then
    fail("a call of " .. (node[1].name ~= "" and node[1].name .. "()" or "this")
         .. " that reads tuning parameters is not supported")
  end
  if name == "min" or name == "max" then return f(node, scope) end
  if #node ~= 2 then fail(name .. "() takes one argument") end
  local text, of = translate(node[2], scope)
  text, of = as_number(text, of, fail)
  return f(text, of)
end

local TRANSLATE = {
  name = function(node, scope) return node.name, scope.types[node.name] end,
  call = translate_call,
  choice = function(node, scope)
    local a, of_a = translate(node[2], scope)
    local b, of_b = translate(node[3], scope)
    return choose(truth_text(node[1], scope), a, of_a, b, of_b, scope.fail)
  end,
  ["not"] = function(node, scope) return truth_text(node, scope), "truth" end,
  negate = function(node, scope)
    local text, of = translate(node[1], scope)
    text, of = as_number(text, of, scope.fail)
    return "(-" .. text .. ")", of
  end,
  plus = function(node, scope)
    local text, of = translate(node[1], scope)
    return as_number(text, of, scope.fail)
  end,
  ["~"] = function(node, scope)
    local text, of = translate(node[1], scope)
    text, of = as_number(text, of, scope.fail)
    if of ~= "whole" then scope.fail("~ needs a whole number") end
    return "(~" .. text .. ")", of
  end,
  ["in"] = membership,
  ["not in"] = function(node, scope) return "(not " .. membership(node, scope) .. ")", "truth" end,
}

local function and_or(node, scope)
  local a, of_a = translate(node[1], scope)
  local b, of_b = translate(node[2], scope)
  if of_a == "truth" and of_b == "truth" then
    return "(" .. a .. " " .. node.op .. " " .. b .. ")", "truth"
  end
  local condition = as_truth(a, of_a)
  if node.op == "and" then return choose(condition, b, of_b, a, of_a, scope.fail) end
  return choose(condition, a, of_a, b, of_b, scope.fail)
end

--- The tree as a text that expressions read, and its type: "whole", "number", "truth" or "text".
--- scope: `types` of the names that stay names, the `lists` of their values as far as they are known, `values`
--- of the others, `fail`. Powers are exact up to 2^53.
function translate(node, scope)
  scope.known = scope.known or {}
  if not reads(node, scope.types, scope.known) then
    return literal(evaluate(node, scope.values, scope.fail), scope.fail)
  end
  if TRANSLATE[node.op] then return TRANSLATE[node.op](node, scope) end
  if node.op == "and" or node.op == "or" then return and_or(node, scope) end
  if LUA_COMPARISONS[node.op] then
    local a, of_a = translate(node[1], scope)
    local b, of_b = translate(node[2], scope)
    return compare(node.op, a, of_a, b, of_b, scope.fail)
  end
  if ARITHMETIC[node.op] or BITS[node.op] then return arithmetic(node, scope) end
  scope.fail("a list that reads tuning parameters is not supported here")
end
python.translate = translate

--- The tree as a text that is true or false.
function python.condition(node, scope)
  scope.known = scope.known or {}
  if not reads(node, scope.types, scope.known) then
    return tostring(truth(evaluate(node, scope.values, scope.fail)))
  end
  return truth_text(node, scope)
end

return python
