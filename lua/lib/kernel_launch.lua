-- Reads how a kernel's own file launches it, as expressions of a pattern: what stands between <<< and >>>, through the
-- variables, macros and dim3 that it comes from. It is for a comment to start from, at which a person looks.

local host = ...

local early = host.own "early.lua"

local MOST_DEPTH = 6

-- The parts of a list, at its commas.
local function split(text)
  local parts, depth, from = {}, 0, 1
  text = string.gsub(text, "/%*.-%*/", "")
  for i = 1, #text do
    local c = string.sub(text, i, i)
    if string.find("([{", c, 1, true) then depth = depth + 1 end
    if string.find(")]}", c, 1, true) then depth = depth - 1 end
    if c == "," and depth == 0 then
      parts[#parts + 1] = string.sub(text, from, i - 1)
      from = i + 1
    end
  end
  parts[#parts + 1] = string.sub(text, from)
  for i, part in ipairs(parts) do parts[i] = string.match(part, "^%s*(.-)%s*$") end
  return parts
end

local TYPES = "unsigned|int|long|size_t|float|double|uint|uint32_t|int32_t|uint64_t|int64_t|short|const|unsigned int|unsigned long"

-- Without casts, and without what only C needs.
local function uncast(text)
  for word in string.gmatch(TYPES, "[^|]+") do
    text = string.gsub(text, "%(%s*" .. word .. "%s*%)", "")
    text = string.gsub(text, "%f[%w_]" .. word .. "%s*(%b())", "%1")
  end
  text = string.gsub(text, "static_cast%s*%b<>%s*(%b())", "%1")
  text = string.gsub(text, "std%s*::%s*", "")
  text = string.gsub(text, "(%f[%w_]%d+)%.0*[fF]?%f[^%w_.]", "%1")
  return (string.gsub(text, "(%f[%w_]%d+)[uUlL]+%f[^%w_]", "%1"))
end

-- One name or number, or a product of such in brackets.
local function unwrapped(text)
  return string.match(text, "^%(([%w_%.]+)%)$") or text
end

-- Rounded up, in the ways in which people write it: ceil(a / b), div_up(a, b), (a + b - 1) / b, (a - 1) / b + 1.
local function round_up(text)
  text = string.gsub(text, "%f[%w_]ceilf?%s*(%b())", function(inner)
    local a, b = string.match(inner, "^%(%s*(.-)%s*/%s*(.-)%s*%)$")
    return a and "ceil_div(" .. a .. ", " .. b .. ")" or nil
  end)
  text = string.gsub(text, "%f[%w_]([%w_]+)%s*(%b())", function(name, args)
    local low = string.lower(name)
    if not string.find(low, "div") and not string.find(low, "ceil") or #split(string.sub(args, 2, -2)) ~= 2 then return nil end
    return "ceil_div" .. args
  end)
  local operand = "(%(?[%w_%.%s%*]+%)?)"
  text = string.gsub(text, "%(%s*([%w_%.]+)%s*%+%s*" .. operand .. "%s*%-%s*1%s*%)%s*/%s*" .. operand, function(a, b, c)
    b, c = string.match(b, "^%s*(.-)%s*$"), string.match(c, "^%s*(.-)%s*$")
    return unwrapped(b) == unwrapped(c) and "ceil_div(" .. a .. ", " .. b .. ")" or nil
  end)
  text = string.gsub(text, "%(%s*([%w_%.]+)%s*%+%s*(%d+)%s*%)%s*/%s*(%d+)", function(a, b, c)
    return tonumber(b) + 1 == tonumber(c) and "ceil_div(" .. a .. ", " .. c .. ")" or nil
  end)
  text = string.gsub(text, "%(%s*([%w_%.]+)%s*%-%s*1%s*%)%s*/%s*([%w_%.]+)%s*%+%s*1", "ceil_div(%1, %2)")
  return string.gsub(text, "1%s*%+%s*%(%s*([%w_%.]+)%s*%-%s*1%s*%)%s*/%s*([%w_%.]+)", "ceil_div(%1, %2)")
end

-- The sides of a grid or block: up to three texts.
local function sides_of(text, before, depth)
  local inner = string.match(text, "^dim3%s*%((.*)%)$") or string.match(text, "^dim3%s*{(.*)}$")
  if inner then return split(inner) end
  if not string.find(text, "^[%a_][%w_]*$") or depth > MOST_DEPTH then return { text } end
  local sides
  for _, one in ipairs(host.assigned(before, text)) do
    if one.member ~= "" then
      local i = string.find("xyz", one.member, 1, true)
      sides = sides or {}
      if i then sides[i] = one.value end
    else
      local parts = split(one.value)
      sides = #parts > 1 and parts or string.find(one.value, "^dim3") and sides_of(one.value, before, depth + 1) or { one.value }
    end
  end
  for i = 1, sides and 3 or 0 do
    if sides[i] == nil and (sides[i + 1] or sides[3]) then sides[i] = "1" end
  end
  return sides and #sides > 0 and sides or { text }
end

-- An expression of the pattern; nil: it reads what a pattern cannot know. A name that the host is given, such as a
-- function's parameter, is a variable of the problem to be: env.unknown. `trail` has the variables that are being followed.
local function translate(text, env, trail)
  text = round_up(uncast((string.gsub(text, "/%*.-%*/", ""))))
  if string.find(text, "[^%w_%s()+%-*/%%<>.,]") or string.find(text, "%f[%w_]sizeof%f[^%w_]") then return nil end
  local fine = true
  text = string.gsub(text, "%f[%w_.]([%a_][%w_]*)%.([xyz])%f[^%w_]", function(name, member)
    if env.arguments[name .. "." .. member] then return env.arguments[name .. "." .. member] end
    local sides = sides_of(name, env.before, 0)
    local i = string.find("xyz", member, 1, true)
    local found = env.block_names[name] and env.block[i] or sides[i] and sides[i] ~= name and translate(sides[i], env, trail)
    fine = fine and found and true or false
    return found or name
  end)
  if string.find(text, "%f[%w_][%a_][%w_]*%.[%a_]") then return nil end -- properties.multiProcessorCount
  text = string.gsub(text, "%f[%w_]([%a_][%w_]*)%f[^%w_](%s*)(%(?)", function(name, blank, bracket)
    if bracket ~= "" then
      fine = fine and early.helpers[name] ~= nil
      return nil
    end
    if env.is_parameter(name) then return nil end
    if env.arguments[name] then return env.arguments[name] .. blank end
    if env.is_said(name) then return nil end
    local all = not trail[name] and host.assigned(env.before, name) or {}
    if #all ~= 1 and not trail[name] then
      env.unknown[name] = true
      return nil
    elseif #all ~= 1 or all[1].member ~= "" then
      fine = false
      return nil
    end
    trail[name] = true
    local v = translate(all[1].value, env, trail)
    trail[name] = nil
    fine = fine and v ~= nil
    return v and (string.find(v, "^[%w_]+$") and v or "(" .. v .. ")") .. blank or nil
  end)
  text = string.gsub(text, "/", "//")
  text = string.gsub(text, "%s+", " ")
  return fine and host.load("return " .. text, "=launch") and text or nil
end

local SIDES = { "_X", "_Y", "_Z" }
local SOME_THREADS = { 256, 16, 8 } -- along each side, of blocks with so many, where the file does not say it

-- The block: its sides, and the parameters that stand for those which are mere numbers in the file, or come from where a
-- pattern does not see, where the kernel asks how large its block is.
local function read_block(text, env, may_vary, template)
  local sides, block, added = sides_of(text, env.before, 0), {}, {}
  for i, side in ipairs(sides) do
    local e = translate(side, env, {})
    if not e then return nil end
    local number = math.tointeger(early.parse_c(e)) or early.macro_expression(e) and math.tointeger(early.evaluate(e, early.helpers))
    if env.unknown[e] then
      env.unknown[e] = nil
      number = SOME_THREADS[#sides] or 1
      e = template or e
    end
    if number and number > 1 and (may_vary or e == template) then
      local name = e == template and template or "BLOCK" .. (#sides > 1 and SIDES[i] or "")
      added[#added + 1] = { name = name, value = number, text = side, of_template = e == template }
      e = name
    end
    block[i] = e
  end
  while #block > 1 and block[#block] == "1" do block[#block] = nil end
  return block, added
end

-- A number of the file that became a parameter stands for it in the grid, too.
local function with_added(text, added)
  for _, one in ipairs(added) do
    if not one.of_template then text = string.gsub(text, "%f[%w_]" .. one.value .. "%f[^%w_]", one.name) end
  end
  return text
end

--- { grid, block, shared, added, unknown, all } of the first launch whose block can be told: lists of expressions,
--- `grid` nil where it cannot be told; parameters, each { name, value }, that the file has as numbers; names that
--- are the problem's to be, as keys; its text. nil: there is no such launch. `launches` are the file's, `params` the kernel's;
--- is_parameter(name) says whether it is one of the space, `template` is the template's only number.
return function(launches, params, is_parameter, facts, template)
  for _, launch in ipairs(launches) do
    local env = { before = launch.before, arguments = {}, unknown = {}, block_names = {}, is_parameter = is_parameter }
    function env.is_said(name)
      local m = facts.macros[name]
      return m ~= nil and early.macro_expression(m.value) ~= nil
    end
    for i, text in ipairs(split(launch.arguments)) do
      local is_name = string.find(text, "^[%a_][%w_.]*$") and params[i] and params[i].name ~= ""
      if is_name and not env.arguments[text] then env.arguments[text] = params[i].name end
    end
    local words = host.kernel_words()
    local block, added = read_block(launch.block, env, words.blockDim, template)
    if block then
      env.block, env.block_names[launch.block] = block, true
      local is_added = {}
      for _, one in ipairs(added) do is_added[one.name] = true end
      function env.is_parameter(name) return is_added[name] or is_parameter(name) end
      -- A variable that the block has, and the grid too, is the parameter there.
      for _, one in ipairs(added) do
        if string.find(one.text, "^[%a_][%w_]*$") then env.arguments[one.text] = one.name end
      end
      local of_block, grid = early.copied(env.unknown), {}
      for i, side in ipairs(sides_of(launch.grid, launch.before, 0)) do
        local e = grid and translate(side, env, {})
        if e then grid[i] = with_added(e, added) else grid = nil end
      end
      while grid and #grid > 1 and grid[#grid] == "1" do grid[#grid] = nil end
      local shared = launch.shared and launch.shared ~= "0" and translate(string.gsub(launch.shared, "sizeof%s*%(%s*(%w+)%s*%)", function(type)
        return ({ float = "4", int = "4", double = "8", uint = "4", float4 = "16", float2 = "8" })[type]
      end), env, {})
      return { grid = grid, block = block, shared = shared and with_added(shared, added), added = added,
               unknown = grid and env.unknown or of_block, all = launch.all }
    end
  end
  return nil
end
