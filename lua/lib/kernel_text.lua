-- Guesses from the text of the file how names are used. A text without instances of templates has less
-- structure than a syntax tree, but the text is always whole.

local host = ...

local early = host.own "early.lua"

local MOST_STEPS = 4 -- from an array's element to an index that is computed from it

-- Returns the words and signs of a text, without comments.
local function tokens(text)
  local list = {}
  text = string.gsub(string.gsub(text, "/%*.-%*/", " "), "//[^\n]*", " ")
  for word, sign in string.gmatch(text, "([%w_]*)([^%w_%s]?)") do
    if word ~= "" then list[#list + 1] = word end
    if sign ~= "" then list[#list + 1] = sign end
  end
  return list
end

local function is_word(token) return token ~= nil and string.find(token, "^[%a_]") ~= nil end

-- Adds the words from the token `at` to the bracket `close` that fits `open`. Returns the place behind this bracket.
local function add_until(list, at, open, close, words)
  local depth = 1
  while list[at] and depth > 0 do
    depth = depth + (list[at] == open and 1 or list[at] == close and -1 or 0)
    if is_word(list[at]) then words[list[at]] = true end
    at = at + 1
  end
  return at
end

-- Adds the factors BLOCK and VEC of blockIdx.x * BLOCK * VEC. `at` is the place of blockIdx.
local function add_factors(list, at, words)
  if list[at - 1] == "*" and is_word(list[at - 2]) then words[list[at - 2]] = true end
  at = at + 3
  while list[at] == "*" do
    at = list[at + 1] == "(" and add_until(list, at + 2, "(", ")", words) or at + 2
    if is_word(list[at - 1]) then words[list[at - 1]] = true end
  end
end

--- Returns words, as keys, that probably change the kernel's speed but not its result: extents of shared memory,
--- factors of unrolling, ("step") steps of loops, and ("factor") factors of an index of a block or thread. The second table
--- has the words that decide how often a thread repeats its work: those of bounds of loops and of unrolling.
local function shaping_words()
  local words, repeats = {}, {}
  for _, text in ipairs(host.texts(true)) do
    local list, is_shared, factors, steps = tokens(text), false, {}, {}
    for factor in string.gmatch(text, "#%s*pragma%s+unroll([^\n]*)") do
      for _, found in ipairs { words, repeats } do add_until(tokens(factor), 1, "", "", found) end
    end
    for i, t in ipairs(list) do
      is_shared = (is_shared or t == "__shared__") and t ~= ";"
      if is_shared and t == "[" then add_until(list, i + 1, "[", "]", words) end
      if t == "blockIdx" or t == "threadIdx" then add_factors(list, i, factors) end
      if t == "(" and list[i - 1] == "while" then add_until(list, i + 1, "(", ")", repeats) end
      if t == "(" and list[i - 1] == "for" then -- the step of for (;;)
        local at = add_until(list, add_until(list, i + 1, "", ";", {}), "", ";", repeats)
        add_until(list, at, "(", ")", steps)
      end
    end
    for name in pairs(factors) do words[name] = words[name] or "factor" end
    for name in pairs(steps) do words[name] = words[name] or "step" end
  end
  return words, repeats
end

--- Returns the words, as keys, with which the kernel strides over data: those in `i += stride` or `i = i + stride`, and in
--- the values of variables among these.
local function strides()
  local found, values = {}, {}
  local function add(e)
    for word in early.names_in(e) do found[word] = true end
  end
  for _, text in ipairs(host.texts(true)) do
    text = string.gsub(string.gsub(text, "/%*.-%*/", " "), "//[^\n]*", " ")
    for name, plus, e, behind in string.gmatch(text, "([%a_][%w_]*)%s*(%+?)=%s*([^;%[{}=]*)(.?)") do
      local step = string.match("(" .. e, "^%b()") -- up to the bracket that closes for (...; ...; i += stride)
      if step then e, behind = step, "" end
      local is_step = behind ~= "[" and (plus == "+" or string.find(e, "%f[%w_]" .. name .. "%f[^%w_]"))
      if is_step then add(e) else values[#values + 1] = { name = name, e = e } end
    end
  end
  for _ = 1, MOST_STEPS do
    for _, one in ipairs(values) do add(found[one.name] and one.e or "") end
  end
  return found
end

--- Returns the words of the parameters of templates, as keys.
local function template_words()
  local words = {}
  for _, text in ipairs(host.texts(true)) do
    for head in string.gmatch(text, "%f[%w_]template%s*(%b<>)") do add_until(tokens(head), 1, "", "", words) end
  end
  return words
end

-- Tells whether a variable among `names`, or (is_array) an element of such an array, is used in brackets or in a sum
-- with an address, *(p + array[i]). Adds the variables computed from these to `computed`.
local function has_index(list, names, is_array, computed)
  local variable, depth = nil, 0
  for i, t in ipairs(list) do
    if t == "=" and list[i + 1] ~= "=" and is_word(list[i - 1]) then variable = list[i - 1] end
    if t == ";" or t == "{" then variable = nil end
    local is_read = names[t] and (not is_array or list[i + 1] == "[")
    local is_added = list[i - 1] == "+" and is_word(list[i - 2]) and (not is_array or list[i - 3] == "(")
    if is_read and (depth > 0 or is_added) then return true end
    if is_read and variable then computed[variable] = true end
    depth = depth + (t == "[" and 1 or t == "]" and -1 or 0)
  end
  return false
end

--- Tells whether elements of the array are indices of other arrays: an element, or a variable computed from an element,
--- is used in brackets or in a sum with an address.
local function is_index_array(name)
  for _, text in ipairs(host.texts(true)) do
    local list, names = tokens(text), { [name] = true }
    for step = 1, MOST_STEPS do
      local computed = {}
      if has_index(list, names, step == 1, computed) then return true end
      names = computed
    end
  end
  return false
end

-- Returns the texts of the file and its headers without comments and directives.
local function plain_texts()
  local list = {}
  for i, text in ipairs(host.texts()) do
    text = string.gsub(string.gsub(string.gsub(text, "\\\n", " "), "/%*.-%*/", " "), "//[^\n]*", " ")
    list[i] = string.gsub("\n" .. text, "\n%s*#[^\n]*", "\n")
  end
  return list
end

local NO_TYPES = { ["return"] = true, ["else"] = true, case = true, ["goto"] = true, delete = true, throw = true }

--- Tells whether the file declares a variable: a type stands before its name, as in int N = 4.
local function is_declared(name)
  for _, text in ipairs(plain_texts()) do
    for before in string.gmatch(text, "([%a_][%w_]*)%s+" .. name .. "%s*[=;%[,{(]") do
      if not NO_TYPES[before] then return true end
    end
  end
  return false
end

--- Tells whether the file uses a name like a type: before another name, or after const.
local function is_type_like(name)
  for _, text in ipairs(plain_texts()) do
    if string.find(text, "%f[%w_]" .. name .. "%s+[%a_]") or string.find(text, "%f[%w_]const%s+" .. name .. "%f[^%w_]") then return true end
  end
  return false
end

--- Returns the line of the innermost brace that is never closed, or nil.
local function open_brace(text)
  local lines, depth, line = {}, 0, 1
  text = string.gsub(text, "/%*.-%*/", function(comment) return (string.gsub(comment, "[^\n]", "")) end)
  text = string.gsub(string.gsub(string.gsub(text, "//[^\n]*", ""), '"[^"\n]*"', ""), "'.'", "")
  for sign in string.gmatch(text, "[{}\n]") do
    line = line + (sign == "\n" and 1 or 0)
    depth = depth + (sign == "{" and 1 or sign == "}" and -1 or 0)
    if sign == "{" then lines[depth] = line end
    if depth < 0 then return nil end
  end
  return depth > 0 and lines[depth] or nil
end

return { open_brace = open_brace, template_words = template_words, is_declared = is_declared, is_type_like = is_type_like, shaping_words = shaping_words, strides = strides, is_index_array = is_index_array }
