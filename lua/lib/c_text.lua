-- Values of a record as C. Texts appear only in literals, in which all but plain characters are escaped, so that no
-- record can put code into a file.

local c = {}

local PAGE_COLUMNS = 98
local INT32_MAX = 2147483647

--- literal(text): "a\054b" with its quotes. Escapes always have three octal digits, so that a following digit is not
--- part of them. '?' is escaped because of trigraphs, and '*' so that no text can end a comment around it.
function c.literal(text)
  return '"' .. string.gsub(text, '[%c"\\?*\127-\255]', function(other)
    return string.format("\\%03o", string.byte(other))
  end) .. '"'
end

--- long(n): a whole number.
function c.long(n)
  if n == math.mininteger then return "INT64_MIN" end
  if n > INT32_MAX or n < -INT32_MAX then return "INT64_C(" .. n .. ")" end
  return tostring(n)
end

--- number(x): with the fewest digits that read back the same; 0.0 for infinities and NaN.
function c.number(x)
  if x ~= x or x == math.huge or x == -math.huge then x = 0.0 end
  for precision = 1, 17 do
    local digits = string.format("%." .. precision .. "g", x)
    if tonumber(digits) == x then
      return string.find(digits, "[.eE]") and digits or digits .. ".0"
    end
  end
end

--- spelled(v): any value as records spell it.
function c.spelled(v)
  return math.type(v) == "float" and c.number(v) or tostring(v)
end

--- constant(pattern, column, word): the name of a word's constant.
function c.constant(pattern, column, word)
  return "AUTOTUNE_" .. string.upper(pattern.name) .. "_" .. string.upper(column.identifier) .. "_"
    .. word.identifier
end

--- type(pattern, column)
function c.type(pattern, column)
  return column.c_type or "autotune_" .. pattern.name .. "_" .. column.identifier .. "_kind"
end

--- value(pattern, column, v): nil gives 0 or the first word.
function c.value(pattern, column, v)
  if column.c_type == "bool" then return v and "true" or "false" end
  if column.c_type == "double" then return c.number(v and v + 0.0 or 0.0) end
  if column.c_type then return c.long(v or 0) end
  for _, word in ipairs(column.words) do
    if v == nil or word.text == c.spelled(v) then return c.constant(pattern, column, word) end
  end
end

--- braced(texts, start): {1, 2, ...}, from the column `start` of the page on, continued on the next line at the page's
--- end. A struct without members is not C, hence {0}.
function c.braced(texts, start)
  local out, at = "{", start + 1
  for i, text in ipairs(texts) do
    if i > 1 and at + #text + 2 > PAGE_COLUMNS then
      out = out .. ",\n" .. string.rep(" ", start + 1)
      at = start + 1
    elseif i > 1 then
      out = out .. ", "
    end
    out = out .. text
    at = at + #text + 2
  end
  return out .. (#texts > 0 and "}" or "0}")
end

--- values(pattern, columns, values, start): {1, 2, AUTOTUNE_...}, wrapped as braced() wraps it.
function c.values(pattern, columns, values, start)
  local out = {}
  for i, column in ipairs(columns) do
    local given = nil
    if values and has(values, column.name) then given = values[column.name] end
    out[i] = c.value(pattern, column, given)
  end
  return c.braced(out, start)
end

--- pairs(values): "tile=64,vec=4".
function c.pairs(values)
  local out = {}
  for i, name in ipairs(names(values)) do out[i] = name .. "=" .. c.spelled(values[name]) end
  return table.concat(out, ",")
end

--- has_columns(columns, values): returns whether `values` has exactly these columns.
function c.has_columns(columns, values)
  for _, column in ipairs(columns) do
    if not has(values, column.name) then return false end
  end
  return #names(values) == #columns
end

return c
