-- The values of host code, and the cells that hold them.
--
-- A number is { n, op, a, b, name, of, at, text, macro, open }. n is the number, nil if it is unknown (open). It was
-- computed as a op b. The value of a variable has the variable's `name`; the variable was set to the value `of` at the
-- place `at`. Other values are a pointer, { object } or { to = cell }, a structure { fields }, a vector
-- { fields, object, count }, a lambda or a function. A cell { v } holds a value.

local host = ...

local early = host.own "early.lua"
local syntax = host.own "host_syntax.lua"
local place = syntax.place

local function literal(n) return { n = n } end

-- Makes an unknown value: one that the file does not determine.
local function open_value(name, node, why)
  return { name = name, at = place(node), why = why or "set at run time", open = true }
end

local function is_number(v) return v and not v.object and not v.to and not v.fields and not v.lambda and not v.fn and not v.string end

-- Returns whether a number is independent of variables, macros and unknown values.
local function is_plain(v) return is_number(v) and v.n ~= nil and not v.op and not v.name and not v.macro end

-- Visits a value and all values from which it is computed, each once. visit(v) returns whether to visit the values from
-- which v is computed.
local function walk(v, visit, seen)
  seen = seen or {}
  if not v or not is_number(v) or seen[v] then return end
  seen[v] = true
  if not visit(v) then return end
  walk(v.of, visit, seen)
  walk(v.a, visit, seen)
  walk(v.b, visit, seen)
end

local function same(x, y)
  if rawequal(x, y) then return true end
  if not x or not y then return false end
  if is_number(x) and is_number(y) then
    while x.of do x = x.of end
    while y.of do y = y.of end
    if rawequal(x, y) then return true end
    if x.macro or y.macro then return x.macro == y.macro and x.n == y.n end
    if x.name or y.name then return false end
    if x.op or y.op then return x.op == y.op and same(x.a, y.a) and same(x.b, y.b) end
    return x.n ~= nil and x.n == y.n
  end
  return x.object ~= nil and x.object == y.object and same(x.offset or literal(0), y.offset or literal(0)) or x.to ~= nil and x.to == y.to
end

local function copied(v)
  if not v or not v.fields then return v end
  local copy = {}
  for k, one in pairs(v) do copy[k] = one end
  copy.fields = {}
  for name, cell in pairs(v.fields) do copy.fields[name] = { v = copied(cell.v), name = cell.name } end
  return copy
end

-- Returns the value of the variable `name` after it was set to `v`.
local function given(name, v, node)
  if not is_number(v) or not name or name == "" then return copied(v) end
  if v.open and v.name then return v end
  return { name = name, of = v, n = v.n, float = v.float, at = place(node), node = node, note = v.note, input = v.input }
end

-- Merges two values of which a variable has one at run time. Prefers a value that does not depend on the user's input.
local function merged(a, b, node)
  if same(a, b) then return b and b.note and b or a end
  if a and not is_number(a) then return a end
  if b and not is_number(b) then return b end
  for _, pair in ipairs { { a, b }, { b, a } } do
    if pair[1] and pair[1].input and pair[2] and pair[2].n and not pair[2].input then
      local v = early.copied(pair[2])
      v.note, v.kept = "unless the command line says another", pair[2]
      return v
    end
  end
  local v = open_value(a and a.name or b and b.name or nil, node, "one of several")
  v.input = a and b and a.input and b.input
  return v
end

-- The operators and functions that compute numbers.
local apply = {
  ["+"] = function(x, y) return x + y end, ["-"] = function(x, y) return x - y end, ["*"] = function(x, y) return x * y end,
  ["/"] = function(x, y)
    if y == 0 then return nil end
    if math.type(x) == "integer" and math.type(y) == "integer" then return (x < 0) ~= (y < 0) and -(math.abs(x) // math.abs(y)) or x // y end
    return x / y
  end,
  ["%"] = function(x, y) return y ~= 0 and math.type(x) == "integer" and math.type(y) == "integer" and math.fmod(x, y) or nil end,
  ["<<"] = function(x, y) return x << y end, [">>"] = function(x, y) return x >> y end, ["&"] = function(x, y) return x & y end,
  ["|"] = function(x, y) return x | y end, ["^"] = function(x, y) return x ~ y end,
  ["<"] = function(x, y) return x < y and 1 or 0 end, [">"] = function(x, y) return x > y and 1 or 0 end,
  ["<="] = function(x, y) return x <= y and 1 or 0 end, [">="] = function(x, y) return x >= y and 1 or 0 end,
  ["=="] = function(x, y) return x == y and 1 or 0 end, ["!="] = function(x, y) return x ~= y and 1 or 0 end,
  min = math.min, max = math.max,
  ceil = function(x) return math.ceil(x) end, floor = function(x) return math.floor(x) end, sqrt = function(x) return math.sqrt(x) end,
  log = function(x) return x > 0 and math.log(x) or nil end, log2 = function(x) return x > 0 and math.log(x, 2) or nil end,
  log10 = function(x) return x > 0 and math.log(x, 10) or nil end, pow = function(x, y) return x ^ y end, abs = math.abs,
}

local function computed(op, a, b)
  if not is_number(a) or b and not is_number(b) then return { why = "no number", open = true } end
  if b and is_plain(b) and (b.n == 1 and (op == "*" or op == "/") or b.n == 0 and (op == "+" or op == "-")) then return a end
  if b and is_plain(a) and (a.n == 1 and op == "*" or a.n == 0 and op == "+") then return b end
  local n = nil
  if a.n and (not b or b.n) then
    n = host.try(function() return apply[op](a.n, b and b.n) end)
  end
  if n ~= nil and is_plain(a) and (not b or is_plain(b)) then return { n = n, float = a.float or b and b.float } end
  return { op = op, a = a, b = b, n = n, float = math.type(n) == "float", input = a.input or b and b.input }
end

-- Returns `pointer` moved forward (backward if `op` is "-") by `count` elements of `width` bytes.
local function at_offset(pointer, op, count, width)
  local bytes = computed("*", count or { open = true }, { n = width or 1, width = true })
  return { object = pointer.object, offset = computed(op, pointer.offset or literal(0), bytes) }
end

-- Returns the truth of a condition; nil if it is unknown.
local function truth(v)
  if v and (v.object or v.to or v.fields or v.lambda) then return true end
  if v and v.n ~= nil then return v.n ~= 0 end
  return nil
end

-- Returns `condition ? yes : no` as the smaller or the larger of two numbers; nil if it is something else.
local function min_or_max(condition, yes, no)
  local op = is_number(condition) and condition and condition.op
  if op ~= "<" and op ~= "<=" and op ~= ">" and op ~= ">=" or not yes or not no then return nil end
  local is_less, is_first = string.sub(op, 1, 1) == "<", same(condition.a, yes) and same(condition.b, no)
  if not is_first and not (same(condition.a, no) and same(condition.b, yes)) then return nil end
  return computed(is_less == is_first and "min" or "max", condition.a, condition.b)
end

-- Returns a remark that the condition at `node` chooses a value; nil if the condition depends on no variable.
local function choice(condition, node)
  local depends = false
  walk(condition, function(x)
    depends = depends or x.name and not (x.of and x.of.is_argc)
    return true
  end)
  return depends and "chosen by " .. syntax.text_of(node) .. ", " .. place(node) or nil
end

-- Makes one variable of two that are equal wherever the program goes on, as after `if (a != b) return 1;`.
local function unify(condition)
  local a, b = condition and condition.op == "!=" and condition.a, condition and condition.b
  if not a or a.n ~= b.n or not a.name or not b.name or same(a, b) then return end
  for _, v in ipairs { a, b } do
    while v.of do v = v.of end
    if v.op or v.macro then return end
  end
  b.of, b.open = a, nil
end

-- The old values of the cells that were written since the trail began, so that they can be restored: { cell, value }
-- for each write. There is no trail at first.
local memory = { trail = nil }

local function write(cell, v)
  if memory.trail then memory.trail[#memory.trail + 1] = { cell, cell.v } end
  cell.v = v
end

-- Returns the cell of an element of an array or of memory.
local function element(v, index, node)
  local object = v and v.object
  local byte = v and v.string and index and index.n and string.byte(v.string .. "\0", index.n + 1)
  if byte then return { v = literal(byte) } end
  if v and v.to and (not index or index.n == 0) then return v.to end
  local i = object and index and index.n
  if i == nil then return { v = open_value(nil, node), owner = object, index = index } end
  object.cells = object.cells or {}
  object.cells[i] = object.cells[i] or { v = object.zero and literal(0) or open_value(nil, object.writer or node, object.why or "an element of memory") }
  object.cells[i].owner, object.cells[i].index = object, index
  return object.cells[i]
end

-- Notes that a loop set an element of an array to the value: { kind, limit, at, text }. All elements are
-- a "constant" limit, or "index", or random and "below" the limit; other values have no kind.
local function note_fill(cell, v, node, text)
  local kind, limit, old = nil, v, cell.owner.fill
  while is_number(v) and v and (v.of or v.op == "int" or v.op == "float") and not rawequal(v, cell.index) do v = v.of or v.a end
  if not is_number(v) or not v then limit = nil
  elseif rawequal(v, cell.index) then kind = "index"
  elseif v.op == "%" and v.a.why == "set by rand" then kind, limit = "below", v.b
  elseif v.op == "&" and v.a.why == "set by rand" and is_plain(v.b) then kind, limit = "below", literal(v.b.n + 1)
  elseif v.n and (is_plain(v) or v.macro) then kind = "constant" end
  local function is_among(x, y) return x.kind == "constant" and y.kind == "below" and x.limit.n >= 0 and y.limit.n and x.limit.n < y.limit.n end
  local new = { kind = kind, limit = limit, at = place(node), text = text }
  if not old or kind and is_among(old, new) then cell.owner.fill = new
  elseif not (kind and is_among(new, old)) and (kind ~= old.kind or kind ~= "index" and not same(limit, old.limit)) then
    old.kind = nil
  end
end

local function member(v, name, node)
  if v and v.to then v = v.to.v end
  if v and v.object then v = element(v, literal(0), node).v end
  if not v or not v.fields then return { v = open_value(name, node, v and v.why) } end
  if not v.fields[name] then v.fields[name] = { v = open_value(name, node, v.why), name = name } end
  return v.fields[name]
end

-- Converts a number between whole numbers and others.
local function converted(v, type)
  if not is_number(v) or not v then return v end
  local whole = string.find(type, "int") or string.find(type, "long") or string.find(type, "short") or string.find(type, "char")
  if not v.n then return whole and v.float and { op = "int", a = v } or v end
  if whole and math.type(v.n) == "float" and v.n == v.n and math.abs(v.n) < 2 ^ 62 then
    local n = math.tointeger(v.n >= 0 and math.floor(v.n) or math.ceil(v.n))
    return is_plain(v) and literal(n) or { op = "int", a = v, n = n }
  elseif (type == "float" or type == "double") and math.type(v.n) == "integer" then
    return { op = "float", a = v, n = v.n + 0.0, float = true }
  end
  return v
end

return {
  literal = literal, open_value = open_value, is_number = is_number, is_plain = is_plain, same = same, copied = copied, given = given,
  merged = merged, computed = computed, at_offset = at_offset, truth = truth, apply = apply, memory = memory, write = write,
  note_fill = note_fill, element = element, member = member, converted = converted, min_or_max = min_or_max, unify = unify, walk = walk, choice = choice,
}
