-- An instance of a kernel's template, for a comment to start from: its numbers become parameters, its types and the rest are
-- those with which the file's own host code launches it, else guesses.

local host = ...

local early = host.own "early.lua"

local WHOLE = { int = true, unsigned = true, size_t = true, long = true, short = true, char = true, uint = true, auto = true,
                uint8_t = true, uint16_t = true, uint32_t = true, uint64_t = true,
                int8_t = true, int16_t = true, int32_t = true, int64_t = true }

-- The lists of arguments with which the host launches a kernel of that name: name<float, 64><<<.
local function launched(name)
  local lists = {}
  for _, text in ipairs(host.texts()) do
    for list in string.gmatch(text, "%f[%w_]" .. name .. "%s*(%b<>)%s*<<<") do
      lists[#lists + 1] = early.split(string.sub(list, 2, -2), true)
    end
  end
  return lists
end

-- What the i-th argument is in the first launch in which it is no parameter of the host's own template.
local function argument_of(lists, i, is_open)
  for _, list in ipairs(lists) do
    local text = list[i]
    local known = text ~= nil and text ~= ""
    for word in string.gmatch(text or "", "%f[%w_][%a_][%w_]*") do known = known and not is_open[word] end
    if known then return text end
  end
  return nil
end

-- The first of the structures whose values are called like functions, as an operator that the file has.
local function functor()
  for _, text in ipairs(host.texts()) do
    for before, name, body in string.gmatch(text, "([^\n;}]*)%f[%w_]struct%s+([%a_][%w_]*)%s*(%b{})") do
      if string.find(body, "operator%s*%(%s*%)%s*%(") then
        return string.find(before, "template%s*<") and name .. "<float>" or name
      end
    end
  end
  return nil
end

local function guessed_type(name)
  local low = string.lower(name)
  for _, part in ipairs { "op", "func", "reduc", "pred", "compar" } do
    if string.find(low, part, 1, true) then return functor() or "float" end
  end
  for _, part in ipairs { "size", "index", "idx", "int", "offset", "count" } do
    if string.find(low, part, 1, true) then return "int" end
  end
  return "float"
end

-- The first value of an enumeration; its zero, where the file does not show it.
local function first_enumerator(type)
  local bare = string.match(type, "([%w_]+)$")
  for _, text in ipairs(host.texts()) do
    local scoped, first = string.match(text, "%f[%w_]enum%s+(%f[%w_]c?l?a?s?s?%s*)" .. bare .. "%s*[%w_:%s]*{%s*([%a_][%w_]*)")
    if first then return scoped ~= "" and type .. "::" .. first or first end
  end
  return "(" .. type .. ")0"
end

--- The entry: `k` is the kernel, `name` what it is called. facts.template_numbers has the numbers that its parameters are in the
--- file's own launch.
return function(facts, k, name)
  local lists, parts, args = launched(k.name), early.split(k.template, true), {}
  facts.template_numbers = {}
  for i, one in ipairs(parts) do
    local default = string.match(one, "=%s*(.-)$")
    local head = string.gsub(one, "%s*=.*$", "")
    local own = string.match(head, "([%w_]+)$") or ""
    local kind = string.match(head, "^(.-)[%s.]*" .. own .. "$") or head
    kind = string.gsub(string.gsub(kind, "%f[%w_]const%f[^%w_]", ""), "^%s*(.-)%s*$", "%1")
    local given = argument_of(lists, i, facts.template_words)
    if kind == "class" or kind == "typename" or string.find(head, "^class%f[^%w_]") or string.find(head, "^typename%f[^%w_]") then
      args[i] = given or default and not string.find(default, "[<(]") and default or guessed_type(own)
    elseif string.find(kind, "[*&)]$") then
      args[i] = given or default or "nullptr"
    elseif kind == "bool" then
      args[i] = given or default or "false"
    elseif WHOLE[string.match(kind, "([%w_]+)$") or ""] then
      local macro = given and facts.macros[given]
      local number = math.tointeger(early.parse_c(macro and macro.value or given or ""))
      args[i] = "${" .. (macro and number and given or own) .. "}"
      facts.template_numbers[macro and number and given or own] = number
    else
      args[i] = given or default or first_enumerator(kind)
    end
  end
  return name .. "<" .. table.concat(args, ", ") .. ">"
end
