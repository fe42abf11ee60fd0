-- Writes values of a record in C. Texts appear only in literals, where special characters are escaped, so that no
-- record can put code into a file.

local c = {}

local PAGE_COLUMNS = 98
local INT32_MAX = 2147483647

--- literal(text): the text as a C literal such as "a\054b". Escapes have three octal digits, so that a following digit
--- is not part of the escape. '?' is escaped because of trigraphs, '*' so that no text can end a C comment.
function c.literal(text)
  return '"' .. string.gsub(text, '[%c"\\?*\127-\255]', function(other)
    return string.format("\\%03o", string.byte(other))
  end) .. '"'
end

--- long(n): the whole number n as an int64_t constant.
function c.long(n)
  if n == math.mininteger then return "INT64_MIN" end
  if n > INT32_MAX or n < -INT32_MAX then return "INT64_C(" .. n .. ")" end
  return tostring(n)
end

--- number(x): x with the fewest digits that give x again when read; 0.0 for infinities and NaN.
function c.number(x)
  if x ~= x or x == math.huge or x == -math.huge then x = 0.0 end
  for precision = 1, 17 do
    local digits = string.format("%." .. precision .. "g", x)
    if tonumber(digits) == x then
      return string.find(digits, "[.eE]") and digits or digits .. ".0"
    end
  end
end

--- spelled(v): the value v as records write it.
function c.spelled(v)
  return math.type(v) == "float" and c.number(v) or tostring(v)
end

--- constant(pattern, column, word): the name of the C constant for a word.
function c.constant(pattern, column, word)
  return "AUTOTUNE_" .. string.upper(pattern.name) .. "_" .. string.upper(column.identifier) .. "_"
    .. word.identifier
end

--- type(pattern, column): the C type of the column's values.
function c.type(pattern, column)
  return column.c_type or "autotune_" .. pattern.name .. "_" .. column.identifier .. "_kind"
end

--- value(pattern, column, v): the value v in C; 0 or the first word if v is nil.
function c.value(pattern, column, v)
  if column.c_type == "bool" then return v and "true" or "false" end
  if column.c_type == "double" then return c.number(v and v + 0.0 or 0.0) end
  if column.c_type then return c.long(v or 0) end
  for _, word in ipairs(column.words) do
    if v == nil or word.text == c.spelled(v) then return c.constant(pattern, column, word) end
  end
end

--- braced(texts, start): the texts as {1, 2, ...}, which begins at column `start` and is wrapped to the page. {0} if
--- there are no texts, because C has no struct without members.
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

--- values(pattern, columns, values, start): values of the columns as {1, 2, AUTOTUNE_...}, wrapped by braced().
function c.values(pattern, columns, values, start)
  local out = {}
  for i, column in ipairs(columns) do
    local given = nil
    if values and has(values, column.name) then given = values[column.name] end
    out[i] = c.value(pattern, column, given)
  end
  return c.braced(out, start)
end

--- pairs(values): the values as "tile=64,vec=4".
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
