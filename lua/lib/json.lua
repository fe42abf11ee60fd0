-- JSON (RFC 8259) as a tree in which every value knows its line.
--
-- json.read(text, fail): the root; fail(line, message) is called where the text is no JSON, and does
-- not return. A value is { kind, line, value }: the kind "object", "array", "string", "number",
-- "boolean" or "null". An object has its members by name in `value` and their names in `names`, an
-- array its items in `value`. A number that is whole and has 64 bits is an integer.

local MOST_NESTED = 64

local ESCAPES = {
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
}

-- A code point as UTF-8.
local function encoded(code)
  if code < 0x80 then return string.char(code) end
  if code < 0x800 then return string.char(0xC0 | code >> 6, 0x80 | code & 0x3F) end
  if code < 0x10000 then
    return string.char(0xE0 | code >> 12, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F)
  end
  return string.char(0xF0 | code >> 18, 0x80 | code >> 12 & 0x3F, 0x80 | code >> 6 & 0x3F,
                     0x80 | code & 0x3F)
end

local function read(text, fail)
  local at, line, counted = 1, 1, 1

  -- The line of the place `at`, which never goes back.
  local function line_here()
    while true do
      local newline = string.find(text, "\n", counted, true)
      if not newline or newline >= at then return line end
      line, counted = line + 1, newline + 1
    end
  end

  local function refuse(message) fail(line_here(), message) end

  local function skip_blanks()
    at = string.find(text, "[^ \t\r\n]", at) or #text + 1
  end

  local function take(pattern)
    local first, last = string.find(text, "^" .. pattern, at)
    if not first then return nil end
    at = last + 1
    return string.sub(text, first, last)
  end

  local function expect(symbol, what)
    skip_blanks()
    if string.sub(text, at, at) ~= symbol then
      if at > #text then refuse("the file ends before " .. what) end
      refuse("there is no " .. what .. " before " .. string.match(text, "^[^\n]*", at))
    end
    at = at + 1
  end

  local function read_unit()
    local digits = take "u%x%x%x%x"
    if not digits then refuse("a \\u needs four hexadecimal digits") end
    return tonumber(string.sub(digits, 2), 16)
  end

  -- The character that an escape stands for; `at` is after its backslash.
  local function read_escape()
    local letter = string.sub(text, at, at)
    if letter ~= "u" then
      at = at + 1
      return ESCAPES[letter] or refuse("there is no escape \\" .. letter)
    end
    local unit = read_unit()
    if unit < 0xD800 or unit > 0xDFFF then return encoded(unit) end
    local low = unit < 0xDC00 and take "\\" and read_unit() or 0
    if low < 0xDC00 or low > 0xDFFF then refuse("half of a pair of \\u stands alone") end
    return encoded(0x10000 + (unit - 0xD800) * 0x400 + low - 0xDC00)
  end

  local function read_string()
    local pieces = {}
    at = at + 1
    while true do
      local stop = string.find(text, '["\\%c]', at)
      if not stop then refuse("a string has no end") end
      pieces[#pieces + 1] = string.sub(text, at, stop - 1)
      at = stop + 1
      local symbol = string.sub(text, stop, stop)
      if symbol == '"' then return table.concat(pieces) end
      if symbol ~= "\\" then
        at = stop
        refuse("a string goes beyond its line, or holds a control character")
      end
      pieces[#pieces + 1] = read_escape()
    end
  end

  local function read_number()
    local from = at
    if not (take "-?0" or take "-?[1-9]%d*") then return nil end
    local is_whole = true
    if take "%.%d+" then is_whole = false end
    if take "[eE][+-]?%d+" then is_whole = false end
    local number = tonumber(string.sub(text, from, at - 1))
    return is_whole and math.tointeger(number) or number + 0.0
  end

  local read_value

  local function read_object(depth)
    local value, names = {}, {}
    at = at + 1
    skip_blanks()
    while string.sub(text, at, at) ~= "}" do
      if #names > 0 then expect(",", "a comma or a }") end
      skip_blanks()
      if string.sub(text, at, at) ~= '"' then refuse("a member's name in quotes is missing here") end
      local name = read_string()
      if value[name] then refuse("there are two members '" .. name .. "' in an object") end
      expect(":", "a colon after \"" .. name .. "\"")
      names[#names + 1] = name
      value[name] = read_value(depth + 1)
      skip_blanks()
    end
    at = at + 1
    return value, names
  end

  local function read_array(depth)
    local value = {}
    at = at + 1
    skip_blanks()
    while string.sub(text, at, at) ~= "]" do
      if #value > 0 then expect(",", "a comma or a ]") end
      value[#value + 1] = read_value(depth + 1)
      skip_blanks()
    end
    at = at + 1
    return value
  end

  local WORDS = { ["true"] = true, ["false"] = false, null = "null" }

  function read_value(depth)
    if depth > MOST_NESTED then refuse("values are within each other more than " .. MOST_NESTED .. " deep") end
    skip_blanks()
    local v = { line = line_here() }
    local first = string.sub(text, at, at)
    if first == "{" then
      v.kind = "object"
      v.value, v.names = read_object(depth)
    elseif first == "[" then
      v.kind, v.value = "array", read_array(depth)
    elseif first == '"' then
      v.kind, v.value = "string", read_string()
    else
      v.kind, v.value = "number", read_number()
      local word = v.value == nil and take "%a+" or nil
      if word and WORDS[word] ~= nil then
        v.kind, v.value = word == "null" and word or "boolean", WORDS[word]
      elseif v.value == nil then
        refuse(at > #text and "the file ends where a value is missing"
               or not word and string.find(text, "^[}%]]", at) and "a value is missing before " .. string.sub(text, at, at)
               or "this is no value: " .. (word or "") .. string.match(text, "^[^\r\n]*", at))
      end
    end
    return v
  end

  local root = read_value(1)
  skip_blanks()
  if at <= #text then refuse("there is more after the value that a JSON file is") end
  return root
end

return { read = read }
