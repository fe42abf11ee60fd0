-- Checks the names, lists and expressions of a pattern's description; messages have the script's line. A path is a list
-- of keys and positions from at.pattern{...} to a field: { "space", "tile" }, { "where", 2 }.

local host = ...

local check = {}

-- Lua types that a parameter, a variable or an expression may have
local SCALARS = { number = true, string = true, boolean = true }

local function join(path)
  local text = ""
  for i = 1, #path do
    local step = path[i]
    if type(step) == "number" then
      text = text .. "[" .. step .. "]"
    else
      text = text .. (i > 1 and "." or "") .. (#step > 60 and string.sub(step, 1, 60) .. "..." or step)
    end
  end
  return text
end

local function line_of(path)
  return host.line(table.unpack(path))
end

local function fail(path, ...)
  host.fail(line_of(path), string.format(...), false, join(path))
end

local function child(path, step)
  local longer = { table.unpack(path) }
  longer[#longer + 1] = step
  return longer
end

local function meant(name, names)
  local nearest = host.nearest(name, names)
  return nearest and string.format("; did you mean '%s'?", nearest) or ""
end

local function show(v)
  if type(v) == "string" then return string.format("'%s'", #v > 60 and string.sub(v, 1, 60) .. "..." or v) end
  if SCALARS[type(v)] then return tostring(v) end
  return "a " .. type(v)
end

-- Returns " is 'x'" or " is missing". If the script has the field, but its value is nil, the value is an undefined name.
local function state_of(v, path)
  if v ~= nil then return " is " .. show(v) end
  local parent = { table.unpack(path, 1, #path - 1) }
  for _, key in ipairs(host.keys(table.unpack(parent))) do
    if key == path[#path] then return " is an undefined name; put texts and expressions in quotes" end
  end
  return " is missing"
end

-- Returns the keys of a table in the order of the script's text. Keys of computed tables, which the text does not
-- have, follow in alphabetical order.
local function ordered_keys(t, path)
  local keys, seen = {}, {}
  for _, key in ipairs(host.keys(table.unpack(path))) do
    if t[key] ~= nil and not seen[key] then
      seen[key] = true
      keys[#keys + 1] = key
    end
  end
  for key in pairs(t) do
    if not seen[key] then keys[#keys + 1] = key end
  end
  return keys
end

function check.sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

function check.fields(t, path, known)
  for key in pairs(t) do
    local found = false
    for _, name in ipairs(known) do found = found or name == key end
    if not found then
      if type(key) ~= "string" then
        fail(path, " has a value without a name; its fields are %s", table.concat(known, ", "))
      end
      fail(child(path, key), "there is no such field%s", meant(key, known))
    end
  end
end

function check.table(v, path, example)
  if type(v) ~= "table" then
    fail(path, "%s; write %s", state_of(v, path), example)
  end
  return v
end

-- Returns a hint if the text contains a whole field, such as "block = 64"; otherwise "".
function check.unquoted(v)
  local name, value = string.match(type(v) == "string" and v or "", "^%s*([%a_][%w_]*)%s*=([^=].*)$")
  return name and string.format("; write %s =%s without quotes", name, value) or ""
end

-- Checks that `v` is a list without names and holes, of at most `most` items.
function check.list(v, path, most)
  local count = 0
  for key in pairs(v) do
    count = count + 1
    if key ~= count then
      local hint = check.unquoted(v[1])
      if hint == "" and v[1] ~= nil then hint = "; put several values of one name in braces: NAME = { 1, 2 }" end
      fail(path, " must be a list without names and holes%s", hint)
    end
  end
  if count > most then fail(path, " has %d items; at most %d are allowed", count, most) end
end

local function refuse_nul(v, path)
  if type(v) == "string" and string.find(v, "\0", 1, true) then fail(path, " contains a NUL character, which is not "
    .. "allowed") end
end

function check.string(v, path, example)
  if type(v) ~= "string" or v == "" then
    fail(path, "%s; write %s", state_of(v, path), example)
  end
  refuse_nul(v, path)
  return v
end

-- Reads a text, or a list of at most 16 texts. Returns { text, path } for each text. Messages have `example`, a
-- whole list, and `what`, a description of one text.
function check.texts(given, path, example, what)
  local list = {}
  if given == nil then return list end
  if type(given) == "string" then given = { given } end
  check.table(given, path, example)
  check.list(given, path, 16)
  for i, v in ipairs(given) do
    local where = child(path, i)
    list[i] = { text = check.string(v, where, what), path = where }
  end
  return list
end

-- Reads include = "include" or { "include", "src" }: paths below the script's folder. Returns { name, line } for each path.
function check.includes(given, path)
  local list = check.texts(given, path, "include = { \"include\" }, folders below the script's",
                           "a folder below the script's, for example \"include\"")
  for i, one in ipairs(list) do list[i] = { name = one.text, line = line_of(one.path) } end
  return list
end

local MOST_BYTES = 255

-- Returns the reason why records, journals and command lines cannot hold the value, or nil if they can.
function check.unfit(v)
  if type(v) ~= "string" then return nil end
  if #v > MOST_BYTES then
    return string.format(" is a string of %d bytes; at most %d are allowed", #v, MOST_BYTES)
  end
  if not host.is_line(v) then
    return string.format(" is not UTF-8 without control characters: '%s'", v)
  end
  return nil
end

function check.name(name, path, taken)
  if type(name) ~= "string" or #name > 60 or not string.find(name, "^[%a_][%w_]*$") then
    fail(path, "%s is not a valid name: use at most 60 letters, digits and _, and no digit first", show(name))
  end
  if string.find(name, "^__") then fail(path, "names that start with __ are reserved") end
  if host.is_helper(name) or name == "include" then
    fail(path, "'%s' is the name of a helper function or library; choose another name", name)
  end
  if not host.load("local " .. name, "=name") then
    fail(path, "'%s' is a reserved word of Lua; choose another name", name)
  end
  if taken[name] then fail(path, "a %s already has this name; choose another name", taken[name]) end
end

-- Reads an expression, a number or a boolean. Returns { text, line, what }.
local function expression(v, path)
  if not SCALARS[type(v)] then
    fail(path, "%s; write an expression, for example \"2 * rows\"", state_of(v, path))
  end
  refuse_nul(v, path)
  local text = v
  if math.type(v) == "float" then
    text = string.format("%.17g", v)
    if not string.find(text, "[.eEn]") then text = text .. ".0" end
  end
  return { text = tostring(text), line = line_of(path), what = join(path) }
end

local function optional(v, path)
  if v == nil then return nil end
  return expression(v, path)
end

-- Reads a scalar or a list of at most `most` expressions.
local function expressions(v, path, most)
  if type(v) ~= "table" then return { expression(v, path) } end
  local list = {}
  check.list(v, path, most)
  if #v == 0 then fail(path, " is empty; give at least one value") end
  for i = 1, #v do list[i] = expression(v[i], child(path, i)) end
  return list
end

-- Reads a word of the list `words` ("float", "below") or an expression. A name in `taken`, except a buffer's, is read
-- as an expression.
function check.word(v, path, words, taken)
  local e = expression(v, path)
  if type(v) == "string" and (not taken[v] or taken[v] == "buffer") then
    for _, w in ipairs(words) do
      if w == v then e.text = string.format("%q", v) end
    end
    if #v < 100 and string.find(v, "^[%a_][%w_]*$") and e.text == v then
      fail(path, "'%s' is none of %s%s", v, table.concat(words, ", "), meant(v, words))
    end
  end
  return e
end

-- the key of the kind in tables that at.* functions return
check.KIND = "(kind)"
check.SCALARS = SCALARS
check.line_of, check.fail, check.child, check.meant, check.show = line_of, fail, child, meant, show
check.ordered_keys, check.path_text = ordered_keys, join
check.expression, check.optional, check.expressions = expression, optional, expressions
return check
