-- Rewrites a kernel's source so that one .cu file can hold several sources.
--
-- NVRTC compiles one source at a time, but nvcc compiles a file with many sources that use the same names. So each
-- source gets a namespace. C linkage, which ignores namespaces, is removed. Includes of the Toolkit move before the
-- namespaces; other included files are copied into them. Macros are undefined at the end of the source that defines
-- them.

local MOST_NESTED = 16
local LONGEST_NAME_BYTES = 512

-- ---- the tokens of a text: each function returns the position after the token that begins at `at` ----

local function at_is(s, at, text)
  return string.sub(s, at, at + #text - 1) == text
end

-- Skips to the next character of the set. A backslash also skips the character after it.
local function escaped_until(s, at, set)
  while true do
    at = string.find(s, set, at)
    if not at then return #s + 1 end
    if not at_is(s, at, "\\") then return at end
    at = math.min(at + 2, #s + 1)
  end
end

local function skip_quoted(s, at)
  local quote = string.sub(s, at, at)
  local last = escaped_until(s, at + 1, "[\\\n" .. quote .. "]")
  return at_is(s, last, quote) and last + 1 or last
end

local function skip_line(s, at)
  return escaped_until(s, at, "[\\\n]")
end

local function skip_comment(s, at)
  local _, last = string.find(s, "*/", at + 2, true)
  return (last or #s) + 1
end

-- Skips the raw string R"x( ... )x"; `at` is the position of its first quote.
local function skip_raw(s, at)
  local open = string.find(s, "(", at, true)
  if not open or open - at > 16 then return skip_quoted(s, at) end
  local _, last = string.find(s, ")" .. string.sub(s, at + 1, open - 1) .. '"', open, true)
  return (last or #s) + 1
end

local function skip_name(s, at)
  local _, last = string.find(s, "^[%w_]+", at)
  return (last or at - 1) + 1
end

-- Skips a number. The quotes in 1'000'000 are part of the number and do not begin a character.
local function skip_number(s, at)
  while true do
    local _, last = string.find(s, "^[%w.]+", at)
    at = (last or at - 1) + 1
    if not string.find(s, "^'%w", at) then return at end
    at = at + 1
  end
end

local function skip_piece(s, at)
  if at_is(s, at, "//") then return skip_line(s, at) end
  if at_is(s, at, "/*") then return skip_comment(s, at) end
  local first = string.sub(s, at, at)
  if first == '"' or first == "'" then return skip_quoted(s, at) end
  if string.find(first, "%d") then return skip_number(s, at) end
  if not string.find(first, "[%a_]") then return at + 1 end
  local behind = skip_name(s, at)
  return at_is(s, behind - 1, 'R"') and skip_raw(s, behind) or behind
end

-- Skips blanks and comments and, with `over_lines`, line ends.
local function skip_blanks(s, at, over_lines)
  while true do
    local _, last = string.find(s, over_lines and "^[ \t\r\n]+" or "^[ \t\r]+", at)
    if last then at = last + 1
    elseif at_is(s, at, "/*") then at = skip_comment(s, at)
    elseif over_lines and at_is(s, at, "//") then at = skip_line(s, at)
    elseif at_is(s, at, "\\\n") then at = at + 2
    else return at end
  end
end

-- Skips a directive, which may be continued on the next line and may contain long comments.
local function skip_directive(s, at)
  while at <= #s and not at_is(s, at, "\n") do
    if at_is(s, at, "\\") and at < #s then at = at + 2
    else at = skip_piece(s, at) end
  end
  return math.min(at, #s) + 1
end

-- ---- rewriting ----

local function add(list, text)
  list[#list + 1] = text
end

-- Skips extern "C" and writes its replacement. Returns the position after it, or nil for other uses of `extern`.
local function rewrite_linkage(r, s, at, in_directive)
  local literal = skip_blanks(s, skip_name(s, at), not in_directive)
  if not (at_is(s, literal, '"C"') or at_is(s, literal, '"C++"')) then return nil end
  local behind = skip_blanks(s, skip_quoted(s, literal), not in_directive)
  -- Names in an inline namespace are visible outside, as names in an extern "C" block are.
  if at_is(s, behind, "{") then add(r.text, "inline namespace linkage ") end
  return behind
end

-- Writes the token between `at` and `behind`. Returns the position after the text that was rewritten.
local function write_piece(r, s, at, behind, in_directive)
  local piece = string.sub(s, at, behind - 1)
  local past = piece == "extern" and rewrite_linkage(r, s, at, in_directive)
  if past then return past end
  add(r.text, piece)
  return behind
end

local rewrite

local function include(r, open, name)
  local header = r.headers[name]
  if not header then
    local line = "#include " .. open .. name .. (open == "<" and ">" or '"') .. "\n"
    if not r.included[line] then
      r.included[line] = true
      add(r.includes, line)
    end
    return
  end
  if r.once[name] then return end
  r.once[name] = string.find(header, "#pragma once", 1, true) ~= nil
  if r.nested == MOST_NESTED then refuse("'" .. name .. "' is included by itself") end
  r.nested = r.nested + 1
  rewrite(r, header)
  r.nested = r.nested - 1
end

local function rewrite_directive(r, s, at, behind)
  local word = skip_blanks(s, at + 1, false)
  local word_end = skip_name(s, word)
  local rest = skip_blanks(s, word_end, false)
  local what, open = string.sub(s, word, word_end - 1), string.sub(s, rest, rest)
  if what == "include" and (open == "<" or open == '"') then
    local close = string.find(s, open == "<" and ">" or '"', rest + 1, true)
    if close and close < behind and close - rest < LONGEST_NAME_BYTES then
      return include(r, open, string.sub(s, rest + 1, close - 1))
    end
  end
  local name = string.sub(s, rest, skip_name(s, rest) - 1)
  if what == "line" or (what == "pragma" and name == "once") then return end
  if what == "define" then add(r.undefines, "#undef " .. name .. "\n") end
  while at < behind do
    at = write_piece(r, s, at, math.min(skip_piece(s, at), behind), true)
  end
end

function rewrite(r, s)
  local at, line_starts = 1, true
  while at <= #s do
    local _, last = string.find(s, "^[ \t\r\n]+", at)
    if last then
      line_starts = line_starts or string.find(string.sub(s, at, last), "\n", 1, true) ~= nil
      add(r.text, string.sub(s, at, last))
      at = last + 1
    elseif line_starts and at_is(s, at, "#") then
      local behind = skip_directive(s, at)
      rewrite_directive(r, s, at, behind)
      at = behind
    else
      at = write_piece(r, s, at, skip_piece(s, at), false)
      line_starts = false
    end
  end
end

--- rewrite(source, headers): returns `text`, to be put into a namespace; `includes`, to be put before all namespaces;
--- and `undefines`, to be put after the text. `headers` has `name` and `text` of each file that the source and its
--- headers include, except the Toolkit's.
return function(source, headers)
  local r = { text = {}, includes = {}, undefines = {}, headers = {}, included = {}, once = {}, nested = 0 }
  for _, header in ipairs(headers) do r.headers[header.name] = header.text end
  rewrite(r, source)
  return {
    text = table.concat(r.text), includes = table.concat(r.includes), undefines = table.concat(r.undefines),
  }
end
