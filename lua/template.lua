-- The emitter: turns a template into a Lua function that writes CUDA source.
--
--   % LUA          a line of Lua (blanks may come first); %% starts a line with a literal %
--   ${EXPRESSION}  its value; $${ is a literal ${
--   % include "NAME"   the template NAME in place of this line
--
-- A line that is nothing but ${...} may give several lines, which get its indentation, or an empty
-- string, which gives no line at all.
--
-- The function takes an environment, the table to write to and two helpers. It appends pairs to the
-- table: a mark (file << 24 | line) and a line of output. Line n of its own code stands for the
-- template line map[n].

local host = ...

local INCLUDE_DEPTH = 16

local function text(v, expression)
  if math.type(v) == "integer" or type(v) == "string" then return v end
  if math.type(v) == "float" then
    if v ~= v or v == math.huge or v == -math.huge then
      error("${" .. expression .. "} is not a finite number", 0)
    end
    local digits = string.format("%.15g", v)
    if tonumber(digits) ~= v then digits = string.format("%.17g", v) end
    if not string.find(digits, "[.e]") then digits = digits .. ".0" end
    return digits
  end
  if type(v) == "boolean" then return tostring(v) end
  error("${" .. expression .. "} is " .. (v == nil and "nil" or "a " .. type(v)), 0)
end

local function block(out, n, mark, indent, v, expression)
  v = text(v, expression)
  if v == "" then return n end
  out[n + 1] = mark
  if type(v) == "string" and indent ~= "" then v = string.gsub(v, "\n", "\n" .. indent) end
  out[n + 2] = indent .. v
  return n + 2
end

local function fail(place, ...)
  host.fail_in(place.path, place.line, string.format(...))
end

-- Lua's message about a piece of code without the piece's name and line.
local function without_place(message)
  local _, last = string.find(message, ":1: ", 1, true)
  return last and string.sub(message, last + 1) or message
end

-- Position of the brace that closes the one at `open`; nil when the line ends before.
local function closing_brace(line, open)
  local depth, at = 0, open
  while true do
    at = string.find(line, "[{}\"']", at)
    if not at then return nil end
    local c = string.sub(line, at, at)
    if c == "{" then
      depth = depth + 1
    elseif c == "}" then
      depth = depth - 1
      if depth == 0 then return at end
    else
      repeat
        at = string.find(line, "[\\" .. c .. "]", at + 1)
        if not at then return nil end
        local escaped = string.sub(line, at, at) == "\\"
        if escaped then at = at + 1 end
      until not escaped
    end
    at = at + 1
  end
end

local function check_expression(expression, place)
  if not string.find(expression, "[^ \t]") then fail(place, "${} is empty") end
  local f, message = host.load("return (" .. expression .. "\n)", "=x")
  if not f then fail(place, "${%s}: %s", expression, without_place(message)) end
  -- A comment would swallow the code behind it.
  return string.find(expression, "--", 1, true) and expression .. "\n" or expression
end

-- Splits a line into literals (strings) and expressions ({ code, source }).
local function split(line, place)
  local pieces, literal, at = {}, "", 1
  while true do
    local open = string.find(line, "${", at, true)
    if not open then break end
    if open > at and string.sub(line, open - 1, open - 1) == "$" then
      literal = literal .. string.sub(line, at, open - 2) .. "${"
      at = open + 2
    else
      literal = literal .. string.sub(line, at, open - 1)
      if literal ~= "" then pieces[#pieces + 1] = literal end
      literal = ""
      local close = closing_brace(line, open + 1)
      if not close then fail(place, "there is a ${ without a }") end
      local source = string.sub(line, open + 2, close - 1)
      pieces[#pieces + 1] = { check_expression(source, place), source }
      at = close + 1
    end
  end
  literal = literal .. string.sub(line, at)
  if literal ~= "" or #pieces == 0 then pieces[#pieces + 1] = literal end
  return pieces
end

local function quote(s)
  return string.format("%q", s)
end

local function text_code(line, place, mark)
  local pieces = split(line, place)
  local first, last = pieces[1], pieces[#pieces]
  local indented = #pieces == 2 and type(first) == "string" and not string.find(first, "[^ \t]")
  if type(last) == "table" and (#pieces == 1 or indented) then
    return string.format("__n=__block(__out,__n,%d,%s,%s,%s)", mark,
                         quote(indented and first or ""), last[1], quote(last[2]))
  end
  local parts = {}
  for i, piece in ipairs(pieces) do
    parts[i] = type(piece) == "string" and quote(piece)
      or "__text(" .. piece[1] .. "," .. quote(piece[2]) .. ")"
  end
  return string.format("__n=__n+2 __out[__n-1]=%d __out[__n]=%s", mark, table.concat(parts, ".."))
end

-- Adds code that stands for one template line; it may be several lines long.
local function add(c, code, mark)
  c.code[#c.code + 1] = code
  c.map[#c.map + 1] = mark
  for _ in string.gmatch(code, "\n") do c.map[#c.map + 1] = mark end
end

-- NAME in a line `% include "NAME"`; nil when the line is something else.
local function included_name(code)
  if #code > 200 then return nil end
  local _, open = string.find(code, "^[ \t]*include[ \t(]*[\"']")
  if not open then return nil end
  local close = string.find(code, string.sub(code, open, open), open + 1, true)
  if not close or string.find(code, "[^ \t)]", close + 1) then return nil end
  return string.sub(code, open + 1, close - 1)
end

local function add_template(c, name, includer)
  local source, path = host.read_template(name, includer and includer.path)
  if not source then
    fail(includer, "there is no template '%s' in this folder, the script's, or among the installed ones",
         name)
  end
  if #c.open == INCLUDE_DEPTH then fail(includer, "templates include each other too deeply") end
  for _, open in ipairs(c.open) do
    if open == path then fail(includer, "'%s' includes itself", name) end
  end
  c.open[#c.open + 1] = path
  local file = #c.files + 1
  if file > 127 then fail(includer, "more than 127 includes") end
  c.files[file], c.paths[file] = name, path
  local place, at = { path = path, line = 0 }, 1
  while at <= #source do
    local stop = string.find(source, "\n", at, true) or #source + 1
    local line = string.sub(source, at, stop - 1)
    at = stop + 1
    if string.sub(line, -1) == "\r" then line = string.sub(line, 1, -2) end
    place.line = place.line + 1
    local mark = file << 24 | place.line
    local first = string.find(line, "[^ \t]")
    if not first or string.sub(line, first, first) ~= "%" then
      add(c, text_code(line, place, mark), mark)
    elseif string.sub(line, first + 1, first + 1) == "%" then
      line = string.sub(line, 1, first - 1) .. string.sub(line, first + 1)
      add(c, text_code(line, place, mark), mark)
    else
      local code = string.sub(line, first + 1)
      local included = included_name(code)
      if included then
        add_template(c, included, place)
      else
        add(c, code, mark)
      end
    end
  end
  c.open[#c.open] = nil
end

-- Where a syntax error in the generated code lies in the templates.
local function fail_syntax(c, message)
  local line, what = string.match(message, ":(%d+): (.*)$")
  local mark = c.map[math.min(math.tointeger(line) or #c.map, #c.map)] or (1 << 24)
  what = string.gsub(what or message, "at line (%d+)", function(n)
    return "at line " .. ((c.map[math.tointeger(n)] or 0) & 0xffffff)
  end)
  what = string.gsub(what, "near '__n'", "at the end of the line")
  what = string.gsub(what, "near <eof>", "at the end of the template")
  host.fail_in(c.paths[mark >> 24], mark & 0xffffff, what)
end

-- Compiles the template `name`; errors while it runs name `chunk`, whose lines `map` explains.
-- Returns the function, the map, the paths and the names of the files.
local function compile(name, chunk)
  local c = { code = {}, map = {}, files = {}, paths = {}, open = {} }
  add_template(c, name)
  local code = "local _ENV,__out,__text,__block=... local __n=0 " .. table.concat(c.code, "\n")
  local f, message = host.load(code, "@" .. chunk)
  if not f then fail_syntax(c, message) end
  return f, c.map, c.paths, c.files
end

-- Helpers for templates --------------------------------------------------------------------------

local helpers = {}

local VECTOR_BASES = {
  int8 = "char", uint8 = "uchar", int16 = "short", uint16 = "ushort", int32 = "int",
  uint32 = "uint", int64 = "longlong", uint64 = "ulonglong", float = "float", double = "double",
}
local PAIRS = { half = "__half2", bfloat16 = "__nv_bfloat162" }

--- vector_type(dtype, n): CUDA's own vector of n elements ("float4", "__half2"); the type itself
--- when n is 1.
function helpers.vector_type(dtype, n)
  if n == 1 then return helpers.ctype(dtype) end
  if n == 2 and PAIRS[dtype] then return PAIRS[dtype] end
  if VECTOR_BASES[dtype] and (n == 2 or n == 3 or n == 4) then return VECTOR_BASES[dtype] .. n end
  error("CUDA has no vector of " .. tostring(n) .. " elements of type " .. tostring(dtype), 2)
end

local WORDS = {
  [1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned int", [8] = "uint2",
  [16] = "uint4",
}

--- word_type(bytes): an unsigned type of 1, 2, 4, 8 or 16 bytes that one instruction moves.
function helpers.word_type(bytes)
  return WORDS[bytes]
    or error("no type of " .. tostring(bytes) .. " bytes moves in one instruction (1, 2, 4, 8, 16 do)", 2)
end

local HEADERS = { half = "#include <cuda_fp16.h>", bfloat16 = "#include <cuda_bf16.h>" }

--- dtype_header(dtype): the #include line that the type needs, or "".
function helpers.dtype_header(dtype)
  helpers.ctype(dtype)
  return HEADERS[dtype] or ""
end

return { compile = compile, text = text, block = block, helpers = helpers }
