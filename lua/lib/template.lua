-- The emitter: turns a template into a Lua function that writes CUDA source.
--
--   % LUA          a line of Lua (blanks may come first); %% starts a line with a literal %
--   ${EXPRESSION}  the value of the expression; $${ is a literal ${
--   % include "NAME"   the template NAME in place of this line; NAME may be any expression
--
-- A line that is only ${...} may become several lines, which get the indentation of this line. For an empty string, the
-- line is dropped.
--
-- A variable that a template assigns without `local` is visible in the template and its includes, for one variant. Each
-- file becomes a function with the same line numbers, so that Lua's messages have the template's lines.

local host = ...

local written = host.own "written.lua"
local text = written.text

local INCLUDE_DEPTH = 32

-- A mark is the origin of an output line: the number of the file and the line in it.
local LINE_BITS = 24

local template = {}

-- `names`: all files read so far, as templates write their names. `compiled`: the function of each file, by name.
local names, compiled = {}, {}

local function fail(place, ...)
  host.fail_in(place.path, place.line, string.format(...))
end

-- Returns the position of the brace that closes the brace at `open`, or nil if the line ends first.
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
  local f, message = host.load("return (" .. expression .. ")", "=x")
  if f then return end
  if host.load("return (" .. expression .. "\n)", "=x") then
    fail(place, "${%s}: a comment is not allowed inside ${...}", expression)
  end
  message = string.gsub(string.gsub(message, "^x:1: ", ""), "near '%)'$", "at the end")
  fail(place, "${%s}: %s", expression, message)
end

-- Splits a line into literals (strings) and expressions (tables with one string).
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
      if not close then fail(place, "a ${ has no closing } on its line") end
      local expression = string.sub(line, open + 2, close - 1)
      check_expression(expression, place)
      pieces[#pieces + 1] = { expression }
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

-- Joins the parts with `..`, in balanced brackets because Lua limits the length of a chain of `..`.
local function joined(parts, first, last)
  if last - first < 32 then return table.concat(parts, "..", first, last) end
  local middle = (first + last) // 2
  return "(" .. joined(parts, first, middle) .. ")..(" .. joined(parts, middle + 1, last) .. ")"
end

local function text_code(line, place, mark)
  local pieces = split(line, place)
  local first, last = pieces[1], pieces[#pieces]
  local indented = #pieces == 2 and type(first) == "string" and not string.find(first, "[^ \t]")
  if type(last) == "table" and (#pieces == 1 or indented) then
    return string.format("__block(%d,%s,%s,%s)", mark, quote(indented and first or ""), last[1],
                         quote(last[1]))
  end
  local parts = {}
  for i, piece in ipairs(pieces) do
    parts[i] = type(piece) == "string" and quote(piece)
      or "__text(" .. piece[1] .. "," .. quote(piece[1]) .. ")"
  end
  return string.format("__put(%d,%s)", mark, joined(parts, 1, #parts))
end

-- Returns the NAME of a line `% include "NAME"`; nil for other lines.
local function included_name(code)
  if #code > 200 then return nil end
  local _, open = string.find(code, "^[ \t]*include[ \t(]*[\"']")
  if not open then return nil end
  local close = string.find(code, string.sub(code, open, open), open + 1, true)
  if not close or string.find(code, "[^ \t)]", close + 1) then return nil end
  return string.sub(code, open + 1, close - 1)
end

local compile

local function code_line(line, place, mark)
  local first = string.find(line, "[^ \t]")
  if not first or string.sub(line, first, first) ~= "%" then return text_code(line, place, mark) end
  if string.sub(line, first + 1, first + 1) == "%" then
    return text_code(string.sub(line, 1, first - 1) .. string.sub(line, first + 1), place, mark)
  end
  local code = string.sub(line, first + 1)
  -- If an include has a literal name, its file is compiled now, so that errors in it are found early.
  local included = included_name(code)
  if not included and string.find(code, "include", 1, true) then
    template.computed_includes = true
  end
  if included then
    local found, why = compile(included)
    if not found then
      fail(place, "there is no template '%s' %s", included, why)
    end
  end
  return code
end

local function fail_syntax(path, message, last_line)
  local _, first, line = string.find(message, ":(%d+): ")
  local what = first and string.sub(message, first + 1) or message
  what = string.gsub(what, "near '__%a+'", "at the end of the line")
  what = string.gsub(what, "near <eof>", "at the end of the template")
  host.fail_in(path, math.min(math.tointeger(line) or 0, last_line), what)
end

-- Returns the function of the template `name`, whose parameters are the environment, put, text and block. Returns nil and
-- the end of a message if there is no such template.
function compile(name)
  if compiled[name] then return compiled[name] end
  local source, path = host.read_template(name)
  if not source then return nil, path end
  compiled[name] = true -- a file that includes itself is not compiled again
  local file = #names + 1
  names[file] = name
  local code, place, at = {}, { path = path, line = 0 }, 1
  while at <= #source do
    local stop = string.find(source, "\n", at, true) or #source + 1
    local line = string.sub(source, at, stop - 1)
    at = stop + 1
    if string.sub(line, -1) == "\r" then line = string.sub(line, 1, -2) end
    place.line = place.line + 1
    code[place.line] = code_line(line, place, file << LINE_BITS | place.line)
  end
  local f, message = host.load("local _ENV,__put,__text,__block=... " .. table.concat(code, "\n"),
                               "@" .. path)
  if not f then fail_syntax(path, message, place.line) end
  compiled[name] = f
  return f
end

-- Returns the parts of a file's text between removed lines, of which \v is left: { number of the first line, text } for each.
local function parts_of(source)
  local parts, lines, first, line = {}, {}, nil, 0
  local function flush()
    while #lines > 0 and not string.find(lines[#lines], "%S") do lines[#lines] = nil end
    if #lines > 0 then parts[#parts + 1] = { first, table.concat(lines, "\n") } end
    lines = {}
  end
  for text in string.gmatch(source .. "\n", "([^\n]*)\n") do
    line = line + 1
    if string.find(text, "\v", 1, true) and not string.find(text, "%S") then
      flush()
    elseif #lines > 0 or string.find(text, "%S") then
      if #lines == 0 then first = line end
      lines[#lines + 1] = text
    end
  end
  flush()
  return parts
end

-- Turns a file into a template that writes `head`, a #define for each name in `defines`, and the file's text.
function template.add_file(name, source, defines, head)
  local file = #names + 1
  names[file] = name
  local parts = parts_of(source)
  compiled[name] = function(scope, put)
    if head ~= "" then put(0, (string.gsub(head, "\n$", ""))) end
    for _, defined in ipairs(defines) do
      put(0, written.definition(defined, scope[defined]))
    end
    for _, part in ipairs(parts) do
      put(0, "")
      put(file << LINE_BITS | part[1], part[2])
    end
  end
end

-- Runs the template `name` in the environment `scope`. Returns a table in which marks and texts alternate; a text may
-- have several lines. With `exact`, the empty lines of a value get no indentation, its last line end is dropped, and the
-- template may call file(name): the mark 0 and this name begin another output file.
local function run(name, scope, exact)
  local out, n, depth = {}, 0, 0
  local function put(mark, line)
    out[n + 1] = mark
    n = n + 2
    out[n] = line
  end
  -- Writes the value for a line that is only ${expression}.
  local function block(mark, indent, v, expression)
    v = text(v, expression)
    if v == "" then return end
    if exact and type(v) == "string" then
      if string.sub(v, -1) == "\n" then v = string.sub(v, 1, -2) end
      v = string.gsub(v, "\n([^\n])", "\n" .. indent .. "%1")
      if string.sub(v, 1, 1) ~= "\n" then v = indent .. v end
      put(mark, v)
      return
    end
    if indent ~= "" and type(v) == "string" then v = string.gsub(v, "\n", "\n" .. indent) end
    put(mark, indent .. v)
  end
  if exact then
    function scope.file(named)
      if type(named) ~= "string" or not string.find(named, "^[%w_.-]+$")
          or not string.find(named, "[^.]") then
        error("file: a name has letters, digits, '_', '-' and '.'", 0)
      end
      put(0, named)
    end
  end
  function scope.include(included)
    local f, why
    if type(included) == "string" then f, why = compile(included) end
    if not f then
      error("there is no template '" .. tostring(included) .. "'" .. (why and " " .. why or ""), 0)
    end
    depth = depth + 1
    if depth > INCLUDE_DEPTH then error("templates include each other too deeply", 0) end
    f(scope, put, text, block)
    depth = depth - 1
  end
  compiled[name](scope, put, text, block)
  return out
end

-- ---- helpers for templates ----

local helpers = {}

local VECTOR_BASES = {
  int8 = "char", uint8 = "uchar", int16 = "short", uint16 = "ushort", int32 = "int",
  uint32 = "uint", int64 = "longlong", uint64 = "ulonglong", float = "float", double = "double",
}
local PAIRS = { half = "__half2", bfloat16 = "__nv_bfloat162" }

local WORDS = {
  [1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned int", [8] = "uint2",
  [16] = "uint4",
}

--- vector_type(dtype, n) returns CUDA's vector of n elements ("float4", "__half2"), or the type itself if n is 1.
function helpers.vector_type(dtype, n)
  if n == 1 then return helpers.ctype(dtype) end
  if n == 2 and PAIRS[dtype] then return PAIRS[dtype] end
  if VECTOR_BASES[dtype] and (n == 2 or n == 3 or n == 4) then return VECTOR_BASES[dtype] .. n end
  local bytes = math.type(n) == "integer" and n * host.sizeof(dtype)
  error(string.format("CUDA has no vector of %s elements of type %s%s", n, dtype, WORDS[bytes]
    and string.format("; write word_type(%d), which moves as many bytes", bytes) or ""), 2)
end

--- word_type(bytes) returns the unsigned type of 1, 2, 4, 8 or 16 bytes, which one instruction moves.
function helpers.word_type(bytes)
  return WORDS[bytes]
    or error("no type of " .. tostring(bytes) .. " bytes moves in one instruction (1, 2, 4, 8, 16 do)", 2)
end

local HEADERS = { half = "#include <cuda_fp16.h>", bfloat16 = "#include <cuda_bf16.h>" }

--- dtype_header(dtype) returns the #include line that the element type needs, or "".
function helpers.dtype_header(dtype)
  helpers.ctype(dtype)
  return HEADERS[dtype] or ""
end

template.compile, template.run = compile, run
template.names, template.helpers = names, helpers
return template
