-- The comment to start from, of a kernel in a file: what has been inferred, and what is asked for with examples
-- in its place.

local host = ...

local check = host.own "check.lua"
local early = host.own "early.lua"
local arguments = host.own "kernel_arguments.lua"
local helpers, parse_c = early.helpers, early.parse_c

-- Values around the one that a macro has. It shapes the kernel: it is a size, which may divide, unless it is 0 already.
local function suggested_values(v)
  if v == 0 then return "{ 0, 1 }" end
  if helpers.is_pow2(v) then
    local first, last = math.max(1, v // 4), math.max(v, math.min(v * 4, 1024))
    return "at.pow2(" .. first .. ", " .. last .. ")"
  end
  return "{ " .. math.max(1, v // 2) .. ", " .. v .. ", " .. 2 * v .. " }"
end

-- Macros that shape the kernel or its launch, and those that these are made of; others may say what is computed. Those
-- of the launch count as words of the kernel.
local function shaping(facts, launch, words)
  local found, of_launch = host.shaping_words(), {}
  local function add(text, to)
    for name in early.names_in(text or "") do to[name] = true end
  end
  for _, e in ipairs(launch and launch.block or {}) do add(e, of_launch) end
  for _, e in ipairs(launch and launch.grid or {}) do
    add(string.match(e, "//(.*)"), of_launch)
    for inner in string.gmatch(e, "ceil_div%b()") do add(string.match(inner, ",(.*)%)$"), of_launch) end
  end
  for name in pairs(of_launch) do found[name], words[name] = true, true end
  for _ = 1, 4 do
    for name in pairs(early.copied(found)) do add(facts.macros[name] and facts.macros[name].value, found) end
  end
  return found
end

-- The values that the file's own #if lines tell apart, of names that are compared with small numbers: #if METHOD == 2.
local function conditions()
  local numbers, lists = {}, {}
  for line in string.gmatch(host.texts()[1] or "", "[^\n]+") do
    local condition = string.match(line, "^%s*#%s*e?l?if%s+(.*)") or ""
    for name, sign, number in string.gmatch(condition, "%f[%w_]([%a][%w_]*)%s*([=!<>]+)%s*(%d+)%f[^%w_.]") do
      local v = math.tointeger(tonumber(number))
      if v and v <= 64 then
        numbers[name] = numbers[name] or { [0] = true }
        numbers[name][v] = true
        if sign == ">" or sign == "!=" then numbers[name][v + 1] = true end
      end
    end
  end
  for name, all in pairs(numbers) do lists[name] = check.sorted_keys(all) end
  return lists
end

local function sketch_space(SOME, facts, defines, words, entry, launch, arguments_of)
  local space, whys, first, shapes, left_out, values = {}, {}, nil, shaping(facts, launch, words), {}, {}
  local of_template = {}
  for name in string.gmatch(entry, "%${([%w_]+)}") do
    local v = (facts.template_numbers or {})[name]
    space[#space + 1] = name .. " = " .. (v and suggested_values(v) or "at.pow2(" .. SOME .. ", " .. SOME * 32 .. ")")
    whys[#whys + 1] = name .. " is the template's" .. (v and ", " .. v or "")
    first, of_template[name] = first or name, true
  end
  local names = {}
  for name in pairs(facts.macros) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    local x, y = facts.macros[a], facts.macros[b]
    if x.line ~= y.line then return x.line < y.line end
    return a < b
  end)
  for _, name in ipairs(names) do
    local v = parse_c(facts.macros[name].value)
    if words[name] and not arguments_of[name] and not of_template[name] and math.type(v) == "integer" and v >= 0 and v <= 4096 and not string.find(name, "^_") then
      if shapes[name] and not (v == 32 and string.find(string.lower(name), "warp")) then
        space[#space + 1], values[name] = name .. " = " .. suggested_values(v), v
        whys[#whys + 1] = name .. " is " .. v
        first = first or name
      else
        left_out[#left_out + 1] = name
      end
    end
  end
  for _, one in ipairs(launch and launch.added or {}) do
    if one.of_template then goto next end
    space[#space + 1], values[one.name] = one.name .. " = " .. suggested_values(one.value), one.value
    if launch.all then whys[#whys + 1] = one.name .. " is " .. one.value .. " in the launch" end
    first = first or one.name
    ::next::
  end
  local of_block, asked = {}, conditions()
  for _, side in ipairs(launch and launch.block or {}) do of_block[side] = true end
  for _, name in ipairs(defines) do
    if not facts.macros[name] then
      space[#space + 1] = name .. " = " .. (host.is_type_like(name) and "{ \"float\" }"
        or asked[name] and "{ " .. table.concat(asked[name], ", ") .. " }"
        or of_block[name] and "at.pow2(" .. (#launch.block > 1 and "8, 32" or "32, 512") .. ")"
        or "at.pow2(" .. SOME .. ", " .. SOME * 8 .. ")")
      whys[#whys + 1] = "nothing defines " .. name
      first, asked[name] = first or name, nil
    end
  end
  for _, name in ipairs(check.sorted_keys(asked)) do
    if not facts.macros[name] then
      space[#space + 1] = name .. " = { " .. table.concat(asked[name], ", ") .. " }"
      whys[#whys + 1] = "nothing defines " .. name
    end
  end
  for _, list in ipairs { names, defines } do
    for _, name in ipairs(list) do
      local low = string.lower(name)
      if (words[name] or not facts.macros[name]) and (string.find(low, "block") or string.find(low, "thread")) then
        first = name
        break
      end
    end
  end
  if #left_out > 0 then whys[#whys + 1] = "left out: " .. table.concat(left_out, ", ", 1, math.min(#left_out, 8)) .. (#left_out > 8 and " ..." or "") .. ", which may say what is computed: add what does not" end
  if #space == 0 then
    table.insert(whys, 1, "nothing in the kernel says how it is launched")
    return "BLOCK = at.pow2(64, 1024)", table.concat(whys, ", "), "BLOCK", values
  end
  return table.concat(space, ", "), table.concat(whys, ", "), first, values
end

-- A grid or block, of one side or more.
local function quoted(list)
  local texts = {}
  for i, e in ipairs(list) do texts[i] = "\"" .. e .. "\"" end
  return #texts == 1 and texts[1] or "{ " .. table.concat(texts, ", ") .. " }"
end

-- The text follows the file's own launch where that can be told, else the most common one.
local function sketch_launch(launch, count, first, words)
  local is_dynamic = words.extern and words.__shared__
  if not launch then
    return "grid = \"ceil_div(" .. count .. ", " .. first .. ")\", block = \"" .. first .. "\""
      .. (is_dynamic and ", shared = \"" .. first .. " * 4\"" or "")
  end
  local grid = launch.grid or {}
  for i, side in ipairs(launch.grid and {} or launch.block) do grid[i] = "ceil_div(" .. count .. ", " .. side .. ")" end
  return "grid = " .. quoted(grid) .. ", block = " .. quoted(launch.block)
    .. (launch.shared and ", shared = \"" .. launch.shared .. "\""
        or is_dynamic and ", shared = \"" .. table.concat(launch.block, " * ") .. " * 4\"" or "")
end

--- The comment, with its last line's end. `names` are the file's kernels, SOME what its unknown numbers were.
return function(SOME, names, request, description, facts, found, signature, defines)
  local seen = request.seen
  local launches, launch = seen.launches, seen.launch
  local is_argument = {}
  for _, p in ipairs(found.params) do is_argument[p.name] = true end
  local space, space_why, first, values = sketch_space(SOME, facts, defines, host.kernel_words(), description.kernel.entry, launch, is_argument)
  local count = arguments.example_count(signature, found.params)
  local lines, outs = {}, {}
  for i, a in ipairs(signature) do
    if a.pointer and not a.const then outs[#outs + 1] = found.params[i].name end
  end
  local function field(name, text, why)
    lines[#lines + 1] = string.format("%-7s = { %s }%s", name, text, why ~= "" and "   -- " .. why or "")
  end
  local function asked(name, more)
    local one = request.of[name]
    local whys = one and table.concat(one.whys, ", ") or ""
    if one then field(name, table.concat(one.texts, ", "), whys .. (whys ~= "" and more and "; " or "") .. (more or "")) end
  end
  local unknown = check.sorted_keys(launch and launch.unknown or {})
  for _, name in ipairs(unknown) do
    arguments.ask(request, "problem", name .. " = " .. tostring(seen.value_of(name) or "1 << 10"), name .. (launch.all and " of the host's code" or ", below which the kernel's places stay"))
  end
  -- The examples' own size, where no number of the kernel is one.
  local has_count = seen.covered ~= nil and launch ~= nil and not launch.all and #unknown > 0
  for _, p in ipairs(found.params) do has_count = has_count or p.name == count end
  if request.of.problem and not has_count then arguments.ask(request, "problem", count .. " = 1 << 20", "elements") end
  local derived = request.of.derived
  if derived and not request.of.problem then arguments.ask(request, "problem", "n = 1 << 20", "of nothing yet") end
  if derived then -- on one line with what it follows from
    local one = request.of.problem
    one.texts[#one.texts] = one.texts[#one.texts] .. " } derived = { " .. table.concat(derived.texts, ", ")
  end
  if request.of.problem then asked("problem") else field("problem", "n = 1 << 20", "no number is a parameter") end
  field("space", space, space_why)
  local of_kernel, args = {}, request.of["kernel.args"]
  if #names > 1 or string.find(description.kernel.entry, "<", 1, true) then of_kernel[1] = "entry = \"" .. description.kernel.entry .. "\"" end
  if args then of_kernel[#of_kernel + 1] = "args = { " .. table.concat(args.texts, ", ") .. " }" end
  if #of_kernel > 0 then field("kernel", table.concat(of_kernel, ", "), args and table.concat(args.whys, ", ") or "") end
  local launched = launch or launches[1]
  field("launch", sketch_launch(launch, count, first, host.kernel_words()), launched and launched.all and "the file has <<<" .. launched.all .. ">>>" or "")
  for _, field_of in ipairs { "sizes", "buffers" } do -- data are the same for all variants
    local texts = request.of[field_of] and request.of[field_of].texts or {}
    for i, text in ipairs(texts) do texts[i] = string.gsub(text, "%f[%w_][%a_][%w_]*", values) end
  end
  asked("sizes", #outs > 0 and "in and out: " .. table.concat(outs, ", ") .. "; outputs = { \"" .. outs[1] .. "\" } says that it is only written" or nil)
  asked("buffers")
  return "/* autotune\n" .. table.concat(lines, "\n") .. "\n*/\n"
end
