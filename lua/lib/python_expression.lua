-- Python's expressions (python.lua) as expressions of this project.
--
-- In: a tree, and a scope: `types` of the names that stay names ("whole", "number", "truth" or "text"), the
-- `lists` of their values as far as they are known, `values` of the other names, and fail(message), which does
-- not return. Out: a text that expressions read. Powers are exact up to 2^53.

local host = ...

local python = host.own "python.lua"
local evaluate, truth, kind, listed = python.evaluate, python.truth, python.kind, python.listed
local function_name = python.function_name

-- Operators of numbers, and those of whole numbers alone.
local ARITHMETIC = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true, ["//"] = true, ["%"] = true, ["**"] = true }
local BITS = { ["|"] = true, ["&"] = true, ["^"] = true, ["<<"] = true, [">>"] = true }

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

--- The tree as a text that is true or false.
local function condition(node, scope)
  scope.known = scope.known or {}
  if not reads(node, scope.types, scope.known) then
    return tostring(truth(evaluate(node, scope.values, scope.fail)))
  end
  return truth_text(node, scope)
end

return { translate = translate, condition = condition }
