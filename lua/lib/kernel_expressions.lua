-- Writes values of the host code as expressions of a pattern: names its variables, finds divisions that round up, and
-- tells where the file has a value.

local host = ...

local early = host.own "early.lua"
local values = host.own "host_values.lua"
local helpers = early.helpers
local is_number, is_plain, same, walk = values.is_number, values.is_plain, values.same, values.walk

-- fields of `device` for members of cudaDeviceProp
local DEVICE = { multiProcessorCount = "sm_count", maxThreadsPerBlock = "max_threads_per_block", warpSize = "warp_size",
                 maxThreadsPerMultiProcessor = "max_threads_per_sm" }
local MOST_REMARK = 100
local MOST_RENDERED = 256 -- parts of one expression

local function quoted(text) return string.format("%q", text) end

local function ask(why) return "at.ask " .. quoted(why) end

-- Returns a text of the file in a form that is allowed in a comment.
local function remark(text)
  text = string.gsub(string.gsub(text, "%s+", " "), "%*/", "* /")
  return #text > MOST_REMARK and string.sub(text, 1, MOST_REMARK) .. " ..." or text
end

local function number_text(n)
  if math.type(n) == "integer" then
    local bits = n > 1024 and helpers.is_pow2(n) and math.floor(math.log(n, 2) + 0.5)
    return bits and 1 << bits == n and "1 << " .. bits or tostring(n)
  end
  local text = string.format("%.7g", n) -- enough digits for a float; a double needs more
  if math.abs(tonumber(text) - n) > math.abs(n) * 6e-8 then text = string.format("%.17g", n) end
  return string.find(text, "[%.enf]") and text or text .. ".0"
end

-- ---- sources of numbers ----

-- Follows copies such as `a = b` from a value back to the last variable, macro or unknown value, and returns it.
local function source_of(v)
  local found = v
  while v and v.of and not v.of.op do
    v = v.of
    if v.name or v.macro or v.open then found = v end
  end
  return found
end

local function why(v)
  local from = source_of(v)
  if not from.at then return "" end
  if from.open then return from.at .. ": " .. (from.why or "") end
  local text = from.node and string.gsub(host.syntax_text(from.node.id), "%s*:$", "") or ""
  return from.at .. (text ~= "" and ": " .. text or "") .. (from.note and ", " .. from.note or v.note and ", " .. v.note or "")
end

local function question(v, name)
  local from = source_of(v)
  return (from.name and from.name ~= name and from.name .. " is " or "") .. (v.input and "set by the command line" or from.why or "set at run time") .. (from.at and ", " .. from.at or "")
end

-- ---- expressions ----

-- State while the comment is made: names of values, tuned parameters, and the fields to write. These are its functions.
local context = {}

function context:name_of(v)
  while v do
    if self.named[v] then return self.named[v] end
    if not (v.of or v.op == "int" or v.op == "float") then return nil end
    v = v.of or v.a
  end
end

-- Tells whether a variable's own expression depends on tuned parameters, and on no other variable.
function context:is_tuned(v)
  local found, others = false, false
  walk(v, function(x)
    local name = self:name_of(x) or x.macro
    local is_other = not rawequal(x, v) and (name and not self.tuned[name] or not name and x.name and x.of and x.of.op)
    found, others = found or name and self.tuned[name] ~= nil, others or is_other
    return not name and not is_other
  end)
  return found and not others
end

-- Returns the position of the item `name` in the list, or nil.
local function find(list, name)
  for i, one in ipairs(list) do
    if one.name == name then return i end
  end
end

function context:add(field, name, text, reason)
  local list = self.fields[field]
  if not find(list, name) then list[#list + 1] = { name = name, text = text, why = remark(reason or "") } end
end

-- Tells whether two values are those of one variable that one place of the file set.
local function is_one(a, b)
  local x, y = source_of(a), source_of(b)
  return same(a, b) and x.at == y.at and x.node == y.node
end

-- Adds a variable of the problem for a number of the host code. Returns its name, which is new.
function context:variable(v)
  local from = source_of(v)
  local base = string.gsub(from.macro or from.name or v.name or "size", "[^%w_]", "_")
  local name, i = base, 2
  while not from.macro and self.taken[name] and not (self.taken[name] ~= true and is_one(self.taken[name], v)) or host.is_helper(name) or not host.load("local " .. name, "=name") do
    name, i = base .. "_" .. i, i + 1
  end
  self.taken[name] = v
  while v do self.named[v], v = self.named[v] or name, v.of end -- the values that it was given, too
  v = self.taken[name]
  self:add("problem", name, v.n and number_text(v.n) or ask(question(v, name)), why(v))
  return name
end

local function without_casts(v)
  while v and (v.op == "int" or v.op == "float" or v.op == "floor" or v.op == "ceil" or v.of and v.of.op) do
    local inner = v.a
    while inner and (inner.op == "float" or inner.of) do inner = inner.of or inner.a end
    if (v.op == "floor" or v.op == "ceil") and inner and inner.float and inner.op then return v end
    v = v.of or v.a
  end
  return v
end

-- Returns a and b if the value is a / b rounded up; otherwise nil.
local function rounded_up(v)
  local function is_one(x) return x and x.n == 1 end
  v = without_casts(v)
  if not v then return nil end
  if v.op == "ceil" then
    local inner = without_casts(v.a)
    if inner and inner.op == "/" and inner.float then return inner.a, inner.b end
  elseif v.op == "/" and not v.float then
    local sum, d = without_casts(v.a), v.b
    if sum.op == "-" and is_one(sum.b) then -- the form (a + b - 1) / b
      local inner = without_casts(sum.a)
      if inner.op == "+" and same(inner.b, d) then return inner.a, d end
      if inner.op == "+" and same(inner.a, d) then return inner.b, d end
    elseif sum.op == "+" then
      local rest = without_casts(sum.b)
      if rest.op == "-" and is_one(rest.b) and same(rest.a, d) then return sum.a, d end
      if rest.n and d.n and is_plain(rest) and rest.n == d.n - 1 and d.n > 1 then return sum.a, d end
    end
  elseif v.op == "+" then -- the forms (a - 1) / b + 1 and a / b + (a % b != 0)
    for _, pair in ipairs { { v.a, v.b }, { v.b, v.a } } do
      local quotient, more = without_casts(pair[1]), without_casts(pair[2])
      if quotient.op == "/" and is_one(more) and without_casts(quotient.a).op == "-" and is_one(without_casts(quotient.a).b) then
        return without_casts(quotient.a).a, quotient.b
      end
      local rest, negated = more, false
      while rest and (rest.op == "!=" or rest.op == "==") and rest.b.n == 0 do
        negated, rest = negated ~= (rest.op == "=="), without_casts(rest.a)
      end
      if rest and rest.op == ">" and rest.b.n == 0 then rest = without_casts(rest.a) end
      if rest and not negated and quotient.op == "/" and rest.op == "%" and same(rest.a, quotient.a) and same(rest.b, quotient.b) then return quotient.a, quotient.b end
    end
  end
  return nil
end

local WRITTEN = { min = true, max = true, ceil = true, floor = true } -- operators with an expression, besides those with a precedence
local PRECEDENCE = { ["+"] = 4, ["-"] = 4, ["*"] = 5, ["/"] = 5, ["%"] = 5, ["<<"] = 3, [">>"] = 3 }

local function operand(n, level)
  local text = number_text(n)
  return (level or 0) > PRECEDENCE["<<"] and string.find(text, "<<", 1, true) and "(" .. text .. ")" or text
end

--- Returns the value as an expression of the pattern, or nil. `role` is "data" for a value that all variants share,
--- "divisor" for the divisor of a grid's size, and "launch" for other values.
function context:render(v, role, level)
  if not is_number(v) or not v then return nil end
  if not level or level == 0 then self.rendered = 0 end
  self.rendered = (self.rendered or 0) + 1
  if self.rendered > MOST_RENDERED then return nil end
  local name = self:name_of(v) or v.macro and self.symbols[v.macro] and v.macro
  if name and role == "data" and self.tuned[name] then return number_text(self.tuned[name]) end
  if name and name == v.macro and self.of_data[name] and not self.of_block[name] and not self.tuned[name] then self:add("problem", name, number_text(v.n), v.at) end
  if name then return name end
  if v.macro then return self:variable(v) end
  if v.note and (not v.name or v.of and v.of.op) then -- the expression holds for some arguments only
    local condition = ", " .. remark(v.note)
    self.conditions[condition] = self.conditions[condition] or table.insert(self.conditions, condition) or true
  end
  local a, b = rounded_up(v)
  if a then
    local x, y = self:render(a, role == "data" and "data" or "dividend", 0), self:render(b, role == "data" and "data" or "divisor", 0)
    return x and y and "ceil_div(" .. x .. ", " .. y .. ")"
  end
  if (role == "dividend" or role == "data") and v.name and v.n and self:is_tuned(v) then return self:variable(v) end
  if v.op == "int" or v.op == "float" or v.op == "floor" or v.op == "ceil" then
    local inner = without_casts(v.a)
    if v.op ~= "float" and v.op ~= "ceil" and inner.op == "/" and inner.float then
      inner = early.copied(inner)
      inner.float = false -- a quotient that is cut off
      return self:render(inner, role, level)
    end
    if v.op == "int" or v.op == "float" or not (inner.float and inner.op) then return self:render(v.a, role, level) end
  end
  if v.of then
    local core = without_casts(v.of)
    if v.name and v.n and core.op and not self:name_of(core) and not PRECEDENCE[core.op] and not WRITTEN[core.op] then return self:variable(v) end
    if v.of.op or v.of.of or v.of.macro or self.named[v.of] then return self:render(v.of, role, level) end
    local tuned = v.n and role == "divisor" and self:tuned_number(v.n)
    if tuned then return tuned end
    if not v.name then return self:render(v.of, role, level) end
    return self:variable(v)
  end
  local property = v.open and v.why == "set by cudaGetDeviceProperties" and DEVICE[v.name]
  if property and role ~= "data" then return "device." .. property end
  if v.open then return self:variable(v) end
  if not v.op then return v.n and (role == "divisor" and self:tuned_number(v.n) or operand(v.n, level)) end
  local own = PRECEDENCE[v.op]
  if own then
    local is_division = v.op == "/" or v.op == "%"
    if is_plain(v.a) and v.a.n == 0 and v.op == "-" then
      local x = self:render(v.b, role, 6)
      return x and "-" .. x
    end
    local x = self:render(v.a, is_division and role == "launch" and "dividend" or role, own)
    local y = self:render(v.b, is_division and role ~= "data" and "divisor" or role, own + 1)
    if not x or not y then return v.n and operand(v.n, level) end
    local op = v.op == "/" and not v.float and "//" or v.op
    local text = x .. " " .. op .. " " .. y
    return own < (level or 0) and "(" .. text .. ")" or text
  end
  if (v.op == "min" or v.op == "max") and v.b then
    local x, y = self:render(v.a, role, 0), self:render(v.b, role, 0)
    return x and y and v.op .. "(" .. x .. ", " .. y .. ")"
  end
  return v.n and operand(v.n, level) or nil
end

-- Returns the tuned parameter that replaces the number `n` of the launch. In the grid's x, y or z, prefers the
-- parameter of the block's x, y or z.
function context:tuned_number(n)
  local own = self.sides and self.sides[self.side]
  if own and self.tuned[own] == n and self.literal[own] then return own end
  for name, v in pairs(self.tuned) do
    if v == n and self.literal[name] then return name end
  end
end

-- Returns the value divided by `width`, for a size in bytes; nil if the expression has no such factor.
local function divided(v, width)
  if width == 1 then return v end
  if v.n and (is_plain(v) or v.width) and math.type(v.n) == "integer" then return v.n % width == 0 and values.literal(v.n // width) or nil end
  if v.op == "int" or v.op == "float" then return divided(v.a, width) end
  if v.of then
    local core = v
    while core.of do core = core.of end
    return core.op and divided(core, width) or nil
  end
  if v.op == "*" then
    local is_width = v.b.width or is_plain(v.b) and v.b.n == width -- v.b is the size of an element
    for _, pair in ipairs(is_width and { { v.b, v.a }, { v.a, v.b } } or { { v.a, v.b }, { v.b, v.a } }) do
      local inner = divided(pair[1], width)
      if inner then return is_plain(inner) and inner.n == 1 and pair[2] or values.computed("*", inner, pair[2]) end
    end
  elseif v.op == "+" or v.op == "-" then
    local a, b = divided(v.a, width), divided(v.b, width)
    return a and b and values.computed(v.op, a, b)
  end
  return nil
end

-- Returns the value to which the variable `name` was set.
function context:core(v, name)
  while v.of and (self.named[v] == name or v.of.op) do v = v.of end
  return v
end

-- Returns whether the variable `name` follows from other variables of the problem, by operators that expressions have.
function context:is_derived(v, name)
  local core = self:core(v, name)
  local function is_variable(macro) return macro and macro ~= name and find(self.fields.problem, macro) ~= nil end
  if not core.op then return is_variable(core.macro) or self.named[core] ~= nil and self.named[core] ~= name end
  local has, fine = false, true
  walk(core, function(x)
    local named = self:name_of(x) or is_variable(x.macro) and x.macro
    if named then
      has = has or not self.tuned[named]
    elseif x.op then
      fine = fine and (PRECEDENCE[x.op] or x.op == "int" or x.op == "float" or x.op == "min" or x.op == "max" or rounded_up(x)) and true
    elseif x.open or x.name and not x.of then
      fine = fine and x.n ~= nil
    end
    return not named and not x.macro
  end)
  return has and fine
end

return {
  context = context, quoted = quoted, ask = ask, remark = remark, number_text = number_text, source_of = source_of, why = why,
  question = question, walk = walk, find = find, without_casts = without_casts, rounded_up = rounded_up, divided = divided,
}
