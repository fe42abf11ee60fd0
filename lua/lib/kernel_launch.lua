-- Reads how a kernel's own file launches it, as expressions of a pattern: what stands between <<< and >>>, through the
-- variables, macros and dim3 that it comes from. It is for a comment to start from, at which a person looks.

local host = ...

local early = host.own "early.lua"

local split, SOME_THREADS = early.split, early.SOME_THREADS

local MOST_DEPTH = 6
local MOST_PUT_IN = 256 -- texts for the names of one expression
local MOST_CALLERS = 3

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
  text = string.gsub(text, "%(%s*([%w_%.][%w_%.%s%*]*)%s*%+%s*" .. operand .. "%s*%-%s*1%s*%)%s*/%s*" .. operand, function(a, b, c)
    a, b, c = string.match(a, "^(.-)%s*$"), string.match(b, "^%s*(.-)%s*$"), string.match(c, "^%s*(.-)%s*$")
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

-- The types that people allocate, and how many bytes each takes.
local WIDTHS = { char = 1, bool = 1, short = 2, half = 2, __half = 2, __nv_bfloat16 = 2, int = 4, float = 4, unsigned = 4, uint = 4,
                 ["unsigned int"] = 4, double = 8, long = 8, size_t = 8, float2 = 8, int2 = 8, float4 = 16, int4 = 16, double2 = 16 }

-- An expression of the pattern; nil: it reads what a pattern cannot know. A name that the host is given, such as a
-- function's parameter, is a variable of the problem to be: env.unknown, with the level at which it stands; with `keeps_numbers`
-- so is one that the host gives a number. `trail` has the variables that are being followed, and at [0] the texts that were put
-- in so far: of declarations that each name the one before twice there are exponentially many.
local function translate(text, env, trail)
  local put_in = trail[0] or { count = 0 }
  trail[0] = put_in
  put_in.count = put_in.count + 1
  if put_in.count > MOST_PUT_IN then return nil end
  text = string.gsub(string.gsub(text, "/%*.-%*/", ""), "sizeof%s*%(%s*([%w_ ]-)%s*%)", function(type)
    return WIDTHS[type] and tostring(WIDTHS[type])
  end)
  text = string.gsub(round_up(uncast(text)), "/", "//") -- of what is put in for names it is done already
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
    if #all == 0 and not trail[name] and env.passed[name] then
      local v = translate(env.passed[name], env.caller, { [0] = put_in })
      for one, at in pairs(v and env.caller.unknown or {}) do env.unknown[one] = at end
      if v then return (string.find(v, "^[%w_]+$") and v or "(" .. v .. ")") .. blank end
    end
    local is_number = #all == 1 and env.whole.keeps_numbers and math.type(early.parse_c(all[1].value))
    for _, one in ipairs(is_number and env.whole.added or {}) do -- the block's own number
      if not one.of_template and tostring(one.value) == tostring(early.parse_c(all[1].value)) then return one.name .. blank end
    end
    if (#all ~= 1 or is_number) and not trail[name] then
      if env.whole.keeps_numbers and env.whole.taken[name] then fine = false end -- another one of that name
      env.unknown[name] = env
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
  text = string.gsub(text, "%s+", " ")
  return fine and host.load("return " .. text, "=launch") and text or nil
end

local SIDES = { "_X", "_Y", "_Z" }

local function forget(env, name)
  while env do
    env.unknown[name], env = nil, env.caller
  end
end

-- The block: its sides, and the parameters that stand for those which are mere numbers in the file, or come from where a
-- pattern does not see, where the kernel asks how large its block is.
local function read_block(text, env, may_vary, template, numbers)
  local sides, block, added = sides_of(text, env.before, 0), {}, {}
  while #sides > 1 and sides[#sides] == "1" do sides[#sides] = nil end
  for i, side in ipairs(sides) do
    local e = translate(side, env, {})
    if not e then return nil end
    local number = math.tointeger(early.parse_c(e)) or early.macro_expression(e) and math.tointeger(early.evaluate(e, early.helpers))
    local stands_for = number and number > 1 and numbers[number]
    if stands_for then
      added[#added + 1] = { name = stands_for, value = number, text = side, of_template = true, is_known = true }
      e, number = stands_for, nil
    end
    local is_open = env.unknown[e] ~= nil -- the host's own choice, or its caller's
    if is_open then
      forget(env, e)
      number = SOME_THREADS[#sides] or 1
      e = template or e
    end
    -- A warp beside a number of warps that is computed stays one.
    local is_warp = i == 1 and number == 32 and #sides > 1 and not string.find(sides[2], "^%d+$")
    if number and number > 1 and not is_warp and (may_vary or is_open or e == template) then
      local name = e == template and template or "BLOCK" .. (#sides > 1 and SIDES[i] or "")
      added[#added + 1] = { name = name, value = number, text = side, of_template = e == template }
      e = name
    end
    for name in early.names_in(e) do -- what the host chooses, and the block follows
      if env.unknown[name] and not env.taken[name] then
        added[#added + 1] = { name = name, value = SOME_THREADS[1], text = name }
        forget(env, name)
      end
    end
    block[i] = e
  end
  while #block > 1 and block[#block] == "1" do block[#block] = nil end
  return block, added
end

-- A number of the file that became a parameter stands for it in the grid, too.
local function with_added(text, added)
  for _, one in ipairs(added) do
    if not one.of_template or one.is_known then text = string.gsub(text, "%f[%w_]" .. one.value .. "%f[^%w_]", one.name) end
  end
  return text
end

-- A level tells what names stand for in the function of a launch or a call, and in those that call it: `before` is the text above, `arguments`
-- has the kernel's parameter for a text that it is given as, `passed` the text that the caller gives for a parameter of the
-- function, to be read in `caller`.
local function new_level(seen, is_parameter, is_said, depth, whole)
  local env = { before = seen.before, arguments = {}, unknown = {}, block_names = {}, passed = {}, is_parameter = is_parameter,
                is_said = is_said }
  env.whole = whole or env
  local call = depth < MOST_CALLERS and seen.within ~= "" and host.calls(seen.within)[1]
  if call and call.within ~= seen.within then
    env.caller = new_level(call, is_parameter, is_said, depth + 1, env.whole)
    for i, text in ipairs(split(call.arguments)) do
      local own = seen.parameters[i]
      if own and own.name ~= "" and text ~= "" then env.passed[own.name] = text end
    end
  end
  return env
end

-- The host's name for what the kernel calls so, here and where it is passed from.
local function name_argument(env, text, parameter)
  if not string.find(text, "^[%a_][%w_.]*$") then return end
  env.arguments[text] = env.arguments[text] or parameter
  if env.caller and env.passed[text] and #host.assigned(env.before, text) == 0 then
    name_argument(env.caller, env.passed[text], parameter)
  end
end

--- The first launch whose block can be told: { grid, block, shared, added, unknown, all, env, given }: lists of expressions,
--- `grid` nil where it cannot be told; parameters, each { name, value }, that the file has as numbers; names that
--- are the problem's to be, as keys; its text; what names stand for there; the texts of its arguments. nil: there is no such
--- launch. `launches` are the file's, `params` the kernel's; is_parameter(name) says whether it is one of the space, `template` is
--- the template's only number.
local function read(launches, params, is_parameter, facts, template)
  local function is_said(name)
    local m = facts.macros[name]
    return m ~= nil and early.macro_expression(m.value) ~= nil
  end
  for _, launch in ipairs(launches) do
    local env = new_level(launch, is_parameter, is_said, 0)
    local given = split(launch.arguments)
    env.taken = {}
    for _, p in ipairs(params) do env.taken[p.name] = true end
    for i, text in ipairs(given) do
      if params[i] and params[i].name ~= "" then name_argument(env, text, params[i].name) end
    end
    local words = host.kernel_words()
    local numbers = {} -- the template's, where one alone has that value
    for name, v in pairs(facts.template_numbers or {}) do numbers[v] = numbers[v] == nil and name end
    local block, added = read_block(launch.block, env, words.blockDim, template, numbers)
    if block then
      env.block, env.block_names[launch.block] = block, true
      local is_added = {}
      for _, one in ipairs(added) do is_added[one.name] = true end
      function env.is_parameter(name) return is_added[name] or is_parameter(name) end
      -- A variable that the block has, and the grid too, is the parameter there.
      for _, one in ipairs(added) do
        if string.find(one.text, "^[%a_][%w_]*$") then env.arguments[one.text] = one.name end
      end
      for i, side in ipairs(sides_of(launch.block, launch.before, 0)) do
        if string.find(side, "^[%a_][%w_]*$") then env.arguments[side] = block[i] end
      end
      if #block == 1 and string.find(launch.block, "^[%a_][%w_]*$") then env.arguments[launch.block] = block[1] end
      env.keeps_numbers, env.added = true, added
      local of_block, grid = early.copied(env.unknown), {}
      for i, side in ipairs(sides_of(launch.grid, launch.before, 0)) do
        local e = grid and translate(side, env, {})
        if e then grid[i] = with_added(e, added) else grid = nil end
      end
      while grid and #grid > 1 and grid[#grid] == "1" do grid[#grid] = nil end
      local known = early.copied(env.unknown)
      local shared = launch.shared and launch.shared ~= "0" and translate(launch.shared, env, {})
      if not shared then env.unknown = known end
      local unknown = grid and early.copied(env.unknown) or of_block
      return { grid = grid, block = block, shared = shared and with_added(shared, added), added = added, unknown = unknown,
               all = launch.all, env = env, given = given }
    end
  end
  return nil
end

return { read = read, translate = translate, uncast = uncast, WIDTHS = WIDTHS }
