-- Python's expressions of the variable i as C++ for the device: what fills a buffer (t1_arguments.lua).

local python_c = {}

--- Functions that the expressions call.
python_c.PRELUDE = [[
__device__ long long py_div(long long a, long long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
__device__ long long py_mod(long long a, long long b) { return a - py_div(a, b) * b; }
__device__ double py_div(double a, double b) { return floor(a / b); }
__device__ double py_mod(double a, double b) { return a - floor(a / b) * b; }
]]

local OPERATORS = {
  ["+"] = "+", ["-"] = "-", ["*"] = "*", ["<"] = "<", ["<="] = "<=", [">"] = ">", [">="] = ">=", ["=="] = "==",
  ["!="] = "!=", ["|"] = "|", ["&"] = "&", ["^"] = "^", ["<<"] = "<<", [">>"] = ">>",
}
local GIVES_TRUTH = { ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, ["=="] = true, ["!="] = true }
local OF_WHOLES = { ["|"] = true, ["&"] = true, ["^"] = true, ["<<"] = true, [">>"] = true }
local FUNCTIONS = {
  sqrt = "sqrt", log2 = "log2", sin = "sin", cos = "cos", exp = "exp", floor = "floor", ceil = "ceil", float = "double",
  int = "(long long)", abs = "abs",
}
local GIVES_WHOLE = { floor = true, ceil = true, int = true }

local write

-- Both as doubles, unless both are whole.
local function operands(node, fail)
  local a, a_whole = write(node[1], fail)
  local b, b_whole = write(node[2], fail)
  if a_whole and b_whole then return a, b, true end
  return "(double)" .. a, "(double)" .. b, false
end

local function write_call(node, fail)
  local name = node[1].name
  if #node < 2 then fail("a generator calls " .. name .. "() of nothing") end
  local a, is_whole = write(node[2], fail)
  if (name == "min" or name == "max") and #node == 3 then
    local b, b_whole = write(node[3], fail)
    local cast = is_whole and b_whole and "(long long)" or "(double)"
    return string.format("%s(%s%s, %s%s)", name, cast, a, cast, b), is_whole and b_whole
  end
  if not FUNCTIONS[name] or #node ~= 2 then fail("a generator cannot call " .. name .. "() here") end
  if name == "abs" then return "abs(" .. a .. ")", is_whole end
  if name == "int" or name == "float" then return "(" .. FUNCTIONS[name] .. "(" .. a .. "))", name == "int" end
  local call = FUNCTIONS[name] .. "((double)" .. a .. ")"
  if GIVES_WHOLE[name] then return "((long long)" .. call .. ")", true end
  return call, false
end

-- The expression in brackets, and whether it is a whole number or a truth.
function write(node, fail)
  local op = node.op
  if op == "name" and node.name == "i" then return "i", true end
  if op == "truth" then return node.value and "1LL" or "0LL", true end
  if op == "whole" then return "(" .. node.value .. "LL)", true end
  if op == "number" then return string.format("((double)%.17g)", node.value), false end
  if op == "negate" or op == "plus" or op == "~" then
    local a, is_whole = write(node[1], fail)
    return "(" .. (op == "negate" and "-" or op == "plus" and "+" or "~") .. a .. ")", is_whole
  end
  if op == "not" then return "(long long)(!" .. write(node[1], fail) .. ")", true end
  if op == "choice" then
    local condition = write(node[1], fail)
    local a, b, is_whole = operands({ node[2], node[3] }, fail)
    return "(" .. condition .. " ? " .. a .. " : " .. b .. ")", is_whole
  end
  if op == "and" or op == "or" then
    local a, b, is_whole = operands(node, fail)
    local yes, no = a, b
    if op == "and" then yes, no = b, a end
    return "(" .. a .. " ? " .. yes .. " : " .. no .. ")", is_whole
  end
  if op == "call" then return write_call(node, fail) end
  if op == "/" or op == "**" then
    local a, b = write(node[1], fail), write(node[2], fail)
    return string.format(op == "/" and "((double)%s / (double)%s)" or "pow((double)%s, (double)%s)", a, b), false
  end
  if op == "//" or op == "%" then
    local a, b, is_whole = operands(node, fail)
    return (op == "//" and "py_div(" or "py_mod(") .. a .. ", " .. b .. ")", is_whole
  end
  if not OPERATORS[op] then fail("a generator of values has no lists and texts") end
  local a, b, is_whole = operands(node, fail)
  if OF_WHOLES[op] and not is_whole then fail(op .. " needs whole numbers") end
  if GIVES_TRUTH[op] then return "(long long)(" .. a .. " " .. OPERATORS[op] .. " " .. b .. ")", true end
  return "(" .. a .. " " .. OPERATORS[op] .. " " .. b .. ")", is_whole
end

--- The tree, which reads nothing but i, as C++.
function python_c.write(node, fail)
  return (write(node, fail))
end

return python_c
