-- The comment to start from, of a kernel in a file: what has been inferred, and what is asked for with examples
-- in its place.

local host = ...

local early = host.own "early.lua"
local arguments = host.own "kernel_arguments.lua"
local helpers, parse_c = early.helpers, early.parse_c

-- Values around the one that a macro has.
local function suggested_values(v)
  if v == 0 or v == 1 then return "{ 0, 1 }" end
  if helpers.is_pow2(v) then
    local first, last = math.max(1, v // 4), math.max(v, math.min(v * 4, 1024))
    return "at.pow2(" .. first .. ", " .. last .. ")"
  end
  return "{ " .. math.max(1, v // 2) .. ", " .. v .. ", " .. 2 * v .. " }"
end

local function sketch_space(SOME, facts, defines, words, entry)
  local space, whys, first = {}, {}, nil
  for name in string.gmatch(entry, "%${([%w_]+)}") do
    space[#space + 1] = name .. " = at.pow2(" .. SOME .. ", " .. SOME * 32 .. ")"
    whys[#whys + 1] = name .. " is the template's"
    first = first or name
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
    if words[name] and math.type(v) == "integer" and v >= 0 and v <= 4096 and not string.find(name, "^_") then
      space[#space + 1] = name .. " = " .. suggested_values(v)
      whys[#whys + 1] = name .. " is " .. v
      first = first or name
    end
  end
  for _, name in ipairs(defines) do
    if not facts.macros[name] then
      space[#space + 1] = name .. " = " .. (host.is_type_like(name) and "{ \"float\" }"
        or "at.pow2(" .. SOME .. ", " .. SOME * 8 .. ")")
      whys[#whys + 1] = "nothing defines " .. name
      first = first or name
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
  if #space == 0 then return "BLOCK = at.pow2(64, 1024)", "the kernel has no macro that is a number", "BLOCK" end
  return table.concat(space, ", "), table.concat(whys, ", "), first
end

--- The comment, with its last line's end. `names` are the file's kernels, SOME what its unknown numbers were.
return function(SOME, names, request, description, facts, found, signature, defines, file)
  local space, space_why, first = sketch_space(SOME, facts, defines, host.kernel_words(), description.kernel.entry)
  local count = arguments.example_count(signature, found.params)
  local lines, ins, outs = {}, {}, {}
  for i, a in ipairs(signature) do
    local list = a.const and ins or outs
    if a.pointer then list[#list + 1] = found.params[i].name end
  end
  local function field(name, text, why)
    lines[#lines + 1] = string.format("%-7s = { %s }%s", name, text, why ~= "" and "   -- " .. why or "")
  end
  local function asked(name)
    local one = request.of[name]
    if one then field(name, table.concat(one.texts, ", "), table.concat(one.whys, ", ")) end
  end
  if request.of.problem then asked("problem") else field("problem", "n = 1 << 20", "no number is a parameter") end
  field("space", space, space_why)
  if #names > 1 or string.find(description.kernel.entry, "<", 1, true) then field("kernel", "entry = \"" .. description.kernel.entry .. "\"", "") end
  local launched = host.launch_text(found.name)
  field("launch", "grid = \"ceil_div(" .. count .. ", " .. first .. ")\", block = \"" .. first .. "\"",
        launched and "the file has <<<" .. launched .. ">>>" or "")
  asked("sizes")
  asked("buffers")
  if request.of["kernel.args"] then
    lines[#lines + 1] = "kernel  = { args = { " .. table.concat(request.of["kernel.args"].texts, ", ") .. " } }   -- "
      .. table.concat(request.of["kernel.args"].whys, ", ")
  end
  if #outs > 0 then
    field("outputs", "", "in and out: " .. table.concat(outs, ", ") .. "; name those that are written only"
          .. (#ins > 0 and "; inputs: " .. table.concat(ins, ", ") or ""))
  end
  return "/* autotune\n" .. table.concat(lines, "\n") .. "\n*/\n"
end
