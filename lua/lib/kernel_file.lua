-- A kernel in a file of the user's own: kernel = { source = "kernel.cu" }, or the comment of such a file.
--
-- What the pattern does not say is inferred: arguments, element types, inputs and outputs from the kernel's
-- type, which the compiler tells; names of parameters, defaults of macros from the text. What cannot be
-- inferred is asked for in one message. docs/kernel_files.md says what follows from what.

local host = ...

local check = host.own "check.lua"
local kernel = host.own "kernel.lua"
local captured = host.own "captured.lua"
local fail, meant, KIND = check.fail, check.meant, check.KIND

local kernel_file = {}

-- What stands for nvcc's own: unannotated code is the host's, and no device function calls it.
local OPTIONS = { "--pre-include=autotune_host.h", "--device-as-default-execution-space" }

-- Reads a value as C writes it: 128, 16u, (2), 0.5f, float4.
local function parse_c(text)
  text = string.gsub(text, "^%s*%((.*)%)%s*$", "%1")
  local digits = string.match(text, "^(-?%d+)[uUlL]*$") or string.match(text, "^(-?[%d.]+[eE]?-?%d*)[fF]?$")
  local v = host.parse(digits or text)
  return v
end

local function is_empty(t)
  for _ in pairs(t) do return false end
  return true
end

local function same(a, b)
  if type(a) == "boolean" then a = a and 1 or 0 end
  if type(b) == "boolean" then b = b and 1 or 0 end
  return a == b
end

-- name -> list of values, for the parameters whose values are a plain list; the names in order.
local function read_space(given)
  local values, names = {}, {}
  if type(given) ~= "table" then return values, names end
  local function add(name, v)
    if type(name) ~= "string" then return end
    names[#names + 1] = name
    while type(v) == "table" and v[KIND] == "when" do v = v.values end
    values[name] = type(v) == "table" and v or { v }
  end
  if #given > 0 then
    for _, pair in ipairs(given) do
      if type(pair) == "table" then add(pair[1], pair[2]) end
    end
  else
    for _, name in ipairs(check.ordered_keys(given, { "space" })) do add(name, given[name]) end
  end
  return values, names
end

local function default_of(v)
  if type(v) ~= "table" then return v end
  if v[KIND] == "within" then return v.default end
  return type(v.values) == "table" and v.values[1] or nil
end

-- Expressions over a configuration, without the program: for what has to be known before the pattern is made.

local helpers = { math = math }

function helpers.ceil_div(a, b) return (a + b - 1) // b end
function helpers.round_up(a, b) return (a + b - 1) // b * b end
function helpers.min(...) return math.min(...) end
function helpers.max(...) return math.max(...) end
function helpers.abs(x) return math.abs(x) end
function helpers.floor(x) return math.floor(x) end
function helpers.ceil(x) return math.ceil(x) end
function helpers.is_pow2(n) return n > 0 and n & (n - 1) == 0 end
function helpers.log2(n)
  local exponent = 0
  while n > 1 do n, exponent = n >> 1, exponent + 1 end
  return exponent
end

-- The value of an expression in `scope`; nil if it has none there (it may read `device`).
local function evaluate(expression, scope)
  if type(expression) ~= "string" then return expression end
  local f = host.load("local _ENV = ...; return (" .. expression .. "\n)", "=expression")
  if not f then return nil end
  return host.try(f, scope)
end

local function scope_of(values, derived)
  local scope = {}
  for name, v in pairs(helpers) do scope[name] = v end
  for name, v in pairs(values) do scope[name] = v end
  -- Derived values may read each other in any order.
  for _ = 1, 4 do
    for name, e in pairs(derived) do
      if scope[name] == nil then scope[name] = evaluate(e, scope) end
    end
  end
  return scope
end

-- What the pattern lacks, for one message.

local function new_request()
  return { order = {}, of = {} }
end

-- `field` has to say `text`; `why` says of what.
local function ask(request, field, text, why)
  if not request.of[field] then
    request.of[field] = { texts = {}, whys = {} }
    request.order[#request.order + 1] = field
  end
  local one = request.of[field]
  one.texts[#one.texts + 1] = text
  one.whys[#one.whys + 1] = why
end

local function tell(request, had, what)
  if #request.order == 0 then return end
  local lines = {}
  for _, field in ipairs(request.order) do
    local one = request.of[field]
    local outer, inner = string.match(field, "^(%w+)%.?(%w*)$")
    local text = (had[field] and "..., " or "") .. table.concat(one.texts, ", ")
    if inner ~= "" then text = inner .. " = { " .. text .. " }" end
    lines[#lines + 1] = "  " .. outer .. " = { " .. text .. " }   -- " .. table.concat(one.whys, ", ")
  end
  fail({}, "%s does not tell all that a launch needs. Write, with what is true of it:\n%s", what,
       table.concat(lines, "\n"))
end

-- What a number that nothing defines is, to see what a kernel takes.
local SKETCHED = 8

-- The kernels of the file that the entry may mean: "scale", "ns::scale<64, float>", "(void (*)(float *))scale".
local function find_kernels(facts, entry)
  local plain = string.gsub(string.gsub(entry, "%b<>%s*$", ""), "%s+$", "")
  plain = string.match(plain, "([%w_:]+)$") or plain
  local list = {}
  for _, k in ipairs(facts.kernels) do
    if plain == k.name or plain == k.scope .. k.name then list[#list + 1] = k end
  end
  return list
end

-- The entry with the values of ${...} in it.
local function entry_in(entry, scope)
  return (string.gsub(entry, "%${(.-)}", function(e)
    local v = evaluate(e, scope)
    if type(v) == "boolean" then return v and "true" or "false" end
    return tostring(v == nil and SKETCHED or v)
  end))
end

local function kernel_names(facts)
  local names, seen = {}, {}
  for _, k in ipairs(facts.kernels) do
    local name = k.scope .. k.name
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  return names
end

-- All that is launched: tables in which an entry and arguments may stand.
local function launches_of(description)
  local list = {}
  local function add(one)
    if type(one) ~= "table" then return end
    if type(one.launches) ~= "table" then
      list[#list + 1] = one
      return
    end
    for _, inner in ipairs(one.launches) do add(inner) end
  end
  for _, one in ipairs(type(description.launches) == "table" and description.launches or {}) do add(one) end
  return list
end

-- An instance of a template, for a sketch: its numbers become parameters.
local function sketched_entry(facts, name)
  for _, k in ipairs(find_kernels(facts, name)) do
    if k.template ~= "" and not string.find(name, "<", 1, true) then
      local args = {}
      for one in string.gmatch(k.template .. ",", "([^,]*),") do
        local kind, own = string.match(one, "^%s*([%w_:]+).-([%w_]+)%s*$"), string.match(one, "([%w_]+)%s*$")
        own = string.match(one, "([%w_]+)%s*=") or own
        local is_type = kind == "class" or kind == "typename"
        args[#args + 1] = is_type and "float" or kind == "bool" and "false" or "${" .. tostring(own) .. "}"
      end
      return name .. "<" .. table.concat(args, ", ") .. ">"
    end
  end
  return name
end

-- A template is no kernel before its arguments are known.
local function refuse_template(file, entry, found)
  for _, k in ipairs(found) do
    if k.template == "" or string.find(entry, "<", 1, true) then return end
  end
  host.fail_in(found[1].file, found[1].line, string.format(
    "%s is a template, template <%s>: name the instance, whose numbers may be parameters: kernel = { entry = \"%s\" }",
    found[1].name, found[1].template, sketched_entry({ kernels = found }, entry)))
end

-- The entry that the pattern means where it says nothing: the file's only kernel.
local function choose_entry(facts, given, file)
  if given.entry ~= nil then return check.string(given.entry, { "kernel", "entry" }, "the name of a kernel") end
  local names = kernel_names(facts)
  if #names == 1 then return names[1] end
  if #names == 0 then fail({ "kernel", "source" }, "%s has no kernel: no function that is __global__", file) end
  fail({}, "%s has %d kernels; write which is meant: kernel = { entry = \"%s\" }%s", file, #names, names[1],
       "\n  there are: " .. table.concat(names, ", "))
end

-- The names that are macros: parameters; variables and derived values that the file has as macros, or that it
-- reads and are written in capitals as macros are. What a template has as a parameter of its own is none.
local function find_defines(description, facts, space_names, parameters)
  local defines = {}
  local function add(name, always)
    if facts.template_words[name] or parameters[name] then return end
    local constant = string.find(name, "^[%u_][%u%d_]*$") -- it may stand in an #if alone
    if facts.macros[name] or facts.words[name] and (always or constant) then defines[#defines + 1] = name end
  end
  for _, name in ipairs(space_names) do add(name, true) end
  for _, field in ipairs { "problem", "derived" } do
    if type(description[field]) == "table" then
      for _, name in ipairs(check.ordered_keys(description[field], { field })) do
        if type(name) == "string" then add(name, false) end
      end
    end
  end
  return defines
end

-- A parameter that the file does not know is misspelt, if the file has one of a similar name.
local function refuse_misspelt(facts, space_names)
  local known = {}
  for name, m in pairs(facts.macros) do
    if not m.constant and not string.find(name, "^_") then known[#known + 1] = name end
  end
  table.sort(known)
  for _, name in ipairs(space_names) do
    if not facts.words[name] then
      local nearest = host.nearest(name, known)
      if nearest then
        fail({ "space", name }, "the file has no macro '%s'; did you mean '%s' (%s:%d)?", name, nearest,
             facts.macros[nearest].file, facts.macros[nearest].line)
      end
    end
  end
end

-- What the file's own macros are: the baseline, as far as the pattern says nothing else.
local function complete_baseline(description, facts, values, space_names)
  if description.baseline == nil then description.baseline = {} end
  if type(description.baseline) ~= "table" then return {} end
  local baseline = {}
  for _, name in ipairs(space_names) do
    local m, list = facts.macros[name], values[name]
    local given = description.baseline[name]
    if given == nil and m and m.value ~= "" then
      local own = parse_c(m.value)
      for _, v in ipairs(list) do
        if same(v, own) then given = v end
      end
      if given == nil and (type(own) == "number" or type(list[1]) == "string") then
        local text = tostring(own)
        fail({ "space", name }, "%s is %s in the file itself (%s:%d), and that is none of its values; add it, or say "
             .. "which is the baseline: baseline = { %s = %s }", name, text, m.file, m.line, name, tostring(list[1]))
      end
      description.baseline[name] = given
    end
    if given == nil then given = list[1] end
    baseline[name] = given
  end
  return baseline
end

local SCALARS = {
  int8 = true, uint8 = true, int16 = true, uint16 = true, int32 = true, uint32 = true, int64 = true,
  uint64 = true, half = true, bfloat16 = true, float = true, double = true, bool = true,
}

local function argument(kind, v)
  return { [KIND] = "argument", type = kind, value = v }
end

-- A variable to show in an example: the first whole number that the kernel takes.
local function example_count(signature, params)
  for i, a in ipairs(signature) do
    if not a.pointer and a.type and string.find(a.type, "int") and params[i].name ~= "" then return params[i].name end
  end
  return "n"
end

-- One pointer: its buffer, completed or made.
local function complete_buffer(description, request, a, param, count_example)
  local name = param.name
  local sizes = description.sizes or {}
  local given = description.buffers[name]
  local role = a.const and "input" or "inout"
  for _, output in ipairs(description.outputs or {}) do
    if output == name then role = "output" end
  end
  if given == nil then
    given = { [KIND] = role }
  elseif type(given) ~= "table" then
    return
  end
  description.buffers[name] = given
  given[kernel.PLACE] = sizes[name] ~= nil and { "sizes", name } or nil
  local known = a.type and SCALARS[a.type] and a.type ~= "bool"
  if given.dtype == nil then
    if a.type == "bool" then
      given.dtype = "uint8"
    elseif known then
      given.dtype = a.type
    elseif a.type == "pointer" then
      fail({}, "the kernel takes pointers to pointers, %s, and a buffer holds none", param.text)
    elseif a.bytes == 0 then
      ask(request, "buffers", name .. " = at." .. given[KIND] .. " { dtype = \"float\", count = \"" .. count_example .. "\" }",
          "what " .. param.text .. " leads to")
      return
    elseif a.bytes % 4 == 0 then
      ask(request, "buffers", string.format("%s = at.%s { dtype = \"float\", count = \"%d * %s\" }", name, given[KIND],
                                            a.bytes // 4, count_example),
          param.text .. " leads to structs of " .. a.bytes .. " bytes")
      return
    else
      ask(request, "buffers", string.format("%s = at.%s { dtype = \"uint8\", count = \"%d * %s\" }", name, given[KIND],
                                            a.bytes, count_example),
          param.text .. " leads to structs of " .. a.bytes .. " bytes")
      return
    end
  end
  if given.count == nil then
    local size = sizes[name]
    if size == nil then
      ask(request, "sizes", name .. " = \"" .. count_example .. "\"", "elements of " .. param.text)
    elseif a.lanes > 1 and (type(size) == "string" or type(size) == "number") then
      given.count = "(" .. tostring(size) .. ") * " .. a.lanes
    else
      given.count = size
    end
  end
end

-- The arguments of one kernel, by its type and the names of its parameters.
local function infer_arguments(description, request, signature, params, named, is_known)
  local args, example = {}, example_count(signature, params)
  for i, a in ipairs(signature) do
    local param = params[i]
    local given = named[param.name]
    if given ~= nil then
      args[i] = given
      if type(given) ~= "table" and not a.pointer and a.type and SCALARS[a.type] and a.lanes == 1 then
        args[i] = argument(a.type, given)
      end
    elseif param.name == "" then
      fail({}, "parameter %d of the kernel has no name (%s): give it one in the file", i, param.text)
    elseif a.pointer then
      complete_buffer(description, request, a, param, example)
      args[i] = param.name
    elseif string.find(param.text, "cudaTextureObject_t", 1, true) then
      ask(request, "kernel.args", param.name .. " = at.texture { buffer = \"NAME\", size = { \"cols\", \"rows\" } }",
          param.text .. ", of a buffer of your own")
    elseif string.find(param.text, "cudaSurfaceObject_t", 1, true) then
      fail({}, "the kernel takes a surface, %s, of which none is made here", param.text)
    elseif a.type and a.lanes == 1 then
      if not is_known(param.name) then
        local whole = string.find(a.type, "int") ~= nil
        ask(request, "problem", param.name .. " = " .. (a.type == "bool" and "true" or whole and "1 << 20" or "1.0"), param.text)
      end
      args[i] = argument(a.type, param.name)
    else
      local members, word = {}, a.type and "at." .. a.type or "at.float"
      for m = 1, a.type and a.lanes or math.max(1, a.bytes // 4) do members[m] = word .. "(0)" end
      if #members > 8 then members = { word .. "(0)", "..." } end
      ask(request, "kernel.args", param.name .. " = at.struct { " .. table.concat(members, ", ") .. " }",
          param.text .. ", of " .. a.bytes .. " bytes")
    end
  end
  return args
end

-- ---- arguments that are given ----

local WIDTHS = { half = 2, bfloat16 = 2, float = 4, double = 8, bool = 1 }

local function width_of(type)
  return WIDTHS[type] or math.tointeger(tonumber(string.match(type, "%d+$"))) // 8
end

local function is_floating(type)
  return type ~= "bool" and WIDTHS[type] ~= nil
end

-- Would the kernel read what it is given as something else?
local function differ(type, taken)
  return width_of(type) ~= width_of(taken) or is_floating(type) ~= is_floating(taken)
end

-- The element type of a buffer; nil: it depends on the problem.
local function buffer_type(description, name)
  local b = type(name) == "string" and description.buffers[name]
  local dtype = type(b) == "table" and b.dtype
  return SCALARS[dtype] and dtype or nil
end

-- A list of arguments, one for each parameter of the kernel.
local function check_arguments(description, signature, params, given)
  if #given > #signature then
    fail({ "kernel", "args", #signature + 1 }, "the kernel takes %d arguments, and not this one", #signature)
  elseif #given < #signature then
    fail({ "kernel", "args" }, "the kernel takes %d arguments, and here are %d: the next is %s", #signature, #given,
         params[#given + 1].text)
  end
  for i, taken in ipairs(signature) do
    local path, v = { "kernel", "args", i }, given[i]
    local is_buffer = type(v) == "string" and description.buffers[v] ~= nil
    local scalar = type(v) == "table" and v[KIND] == "argument" and v.type or nil
    if taken.pointer and scalar then
      fail(path, "the kernel takes a pointer here, %s, and this is a number", params[i].text)
    elseif is_buffer and not taken.pointer and taken.type then
      fail(path, "the kernel takes a number here, %s, and this is a buffer", params[i].text)
    end
    local own = taken.pointer and buffer_type(description, v) or scalar
    if own and taken.type and differ(own, taken.type) then
      fail(path, "the kernel takes %s, of %s, and this is of %s", params[i].text, taken.type, own)
    end
  end
end

-- #define lines for the names in `scope`.
local function definitions(defines, scope)
  local lines = {}
  for i, name in ipairs(defines) do
    local v = scope[name]
    if type(v) == "boolean" then v = v and 1 or 0 end
    lines[i] = "#define " .. name .. " " .. tostring(v == nil and 1 or v) .. "\n"
  end
  return table.concat(lines)
end

-- The kernel's type. What the compiler calls undefined and the pattern has is a macro, too: it is added to `defines`.
local function ask_signature(entry, roots, defines, scope, file)
  while true do
    host.cut_kernel(roots, defines)
    local signature, message, undefined = host.kernel_signature(entry_in(entry, scope), definitions(defines, scope), OPTIONS)
    if signature then return signature end
    local grew = false
    for _, name in ipairs(undefined) do
      local known = false
      for _, d in ipairs(defines) do known = known or d == name end
      if not known and not helpers[name] and (scope[name] ~= nil or host.sketches()) then
        defines[#defines + 1], grew = name, true
        if scope[name] == nil then scope[name] = host.is_type_like(name) and "float" or SKETCHED end
      end
    end
    if not grew then
      local more = #undefined > 10 and ", ..." or ""
      host.fail_in(file, 0, message .. (#undefined == 0 and "" or
        "\nNothing defines " .. table.concat(undefined, ", ", 1, math.min(#undefined, 10)) .. more
        .. ": if these are macros, name them in space or problem"))
    end
  end
end

-- The kernel's parameters as the text has them, of the one that takes as many as the compiler says.
local function match_kernel(facts, entry, signature)
  local found
  for _, k in ipairs(find_kernels(facts, entry)) do
    for _, p in ipairs(k.params) do p.text = string.gsub(p.text, "%s+", " ") end
    if #k.params == #signature then return k end
    found = k
  end
  if found then
    fail({ "kernel", "entry" }, "%s has %d parameters as the compiler has it, and %d in the text (%s:%d): macros in its "
         .. "list of parameters have no names here; give the arguments in order, kernel = { args = { ... } }", entry,
         #signature, #found.params, found.file, found.line)
  end
end

-- A parameter whose name no script could write has another one there: in is in_, min is min_.
local function rename_reserved(params)
  for _, p in ipairs(params) do
    local fits = not host.is_helper(p.name) and p.name ~= "include" and host.load("local " .. p.name, "=name")
    if p.name ~= "" and not fits then p.name = p.name .. "_" end
  end
end

-- Traffic, if nothing is said of what a launch gets done: each input once, each output once.
local function complete_work(description)
  if description.traffic ~= nil or description.flops ~= nil or description.items ~= nil then return end
  local terms = {}
  for _, name in ipairs(check.ordered_keys(description.buffers, { "buffers" })) do
    local b = description.buffers[name]
    if type(b) ~= "table" or b.count == nil or b.dtype == nil then return end
    local times = b[KIND] == "inout" and 2 or b[KIND] == "scratch" and 0 or 1
    if times > 0 then
      local quoted = SCALARS[b.dtype] and string.format("%q", b.dtype) or b.dtype
      terms[#terms + 1] = (times == 2 and "2 * " or "") .. "(" .. tostring(b.count) .. ") * sizeof(" .. quoted .. ")"
    end
  end
  if #terms > 0 then description.traffic = table.concat(terms, " + ") end
end

-- Problems that stand in: a smaller one for the simulated device, one that no tile divides.

local MOST_SIMULATED = 1 << 16 -- elements of all buffers

local function grids(description)
  local list = {}
  local function add(launch)
    if type(launch) ~= "table" then return end
    local grid = launch.grid
    if type(grid) ~= "table" then grid = { grid } end
    for _, e in ipairs(grid) do list[#list + 1] = e end
    for _, one in ipairs(launch.launches or {}) do add(one) end
  end
  add(description.launch)
  for _, one in ipairs(type(description.launches) == "table" and description.launches or {}) do add(one) end
  return list
end

local function words_of(expressions)
  local words = {}
  for _, e in pairs(expressions) do
    for word in string.gmatch(type(e) == "string" and e or "", "[%a_][%w_]*") do words[word] = true end
  end
  return words
end

local function copied(values)
  local copy = {}
  for name, v in pairs(values) do copy[name] = v end
  return copy
end

-- The smallest and the largest number of each parameter, beside the baseline.
local function corners(description, baseline)
  local lists = read_space(description.space)
  local least, most = copied(baseline), copied(baseline)
  for name, list in pairs(lists) do
    for _, v in ipairs(list) do
      if type(v) == "number" and type(least[name]) == "number" then
        least[name], most[name] = math.min(least[name], v), math.max(most[name], v)
      end
    end
  end
  return { baseline, least, most }
end

local function is_whole(v)
  return v == nil or type(v) == "number" and v == math.floor(v)
end

-- Is the problem one for which the baseline is valid, and any configuration has blocks to launch?
local function is_launchable(description, values, derived, baseline)
  for _, parameters in ipairs(corners(description, baseline)) do
    local all = copied(values)
    for name, v in pairs(parameters) do all[name] = v end
    local scope, exact = scope_of(all, derived), nil
    for name, v in pairs(parameters) do all[name] = v end
    for name, v in pairs(description.problem) do all[name] = default_of(v) end
    local whole = scope_of(all, derived)
    for _, e in ipairs(grids(description)) do
      local v = evaluate(e, scope)
      if v ~= nil and (type(v) ~= "number" or v < 1) then return false end
      -- What has no rest for the tuned problem may rely on that.
      exact = type(e) == "string" and string.gsub(e, "//", "/") or e
      if is_whole(evaluate(exact, whole)) and not is_whole(evaluate(exact, scope)) then return false end
    end
  end
  local scope = scope_of(values, derived)
  local where = description.where
  if type(where) == "string" then where = { where } end
  for _, e in ipairs(type(where) == "table" and where or {}) do
    if evaluate(e, scope) == false then return false end
  end
  -- A file fills a buffer of its own size, unless its first elements will do.
  for _, b in pairs(description.buffers) do
    local file = type(b) == "table" and type(b.fill) == "table" and b.fill[KIND] == "file" and b.fill
    local count = file and not file.head and evaluate(b.count, scope)
    if type(count) == "number" and count ~= file.count then return false end
  end
  return true
end

local function total_elements(description, values, derived)
  local scope, total = scope_of(values, derived), 0
  for _, b in pairs(description.buffers) do
    local v = type(b) == "table" and evaluate(b.count, scope)
    if type(v) ~= "number" then return nil end
    total = total + v
  end
  return total
end

-- Variables of one value are one size, as far as anybody can tell: a width and its pitch.
local function set_alike(problem, values, name, v)
  for other in pairs(problem) do
    if problem[other] == problem[name] and math.type(problem[other]) == "integer" then values[other] = v end
  end
end

-- Halves the largest variables that say how large something is, as long as all still runs.
local function shrink(description, values, problem, derived, baseline)
  local sizes = {}
  for _, b in pairs(description.buffers) do
    if type(b) == "table" then sizes[#sizes + 1] = b.count end
  end
  local named = words_of(sizes)
  for word in pairs(words_of(grids(description))) do named[word] = true end
  for word in pairs(named) do
    for inner in pairs(words_of { derived[word] }) do named[inner] = true end
  end
  local small, fixed = copied(values), {}
  while true do
    local total = total_elements(description, small, derived)
    if not total or total <= MOST_SIMULATED then break end
    local largest
    for name in pairs(problem) do
      local v = small[name]
      if named[name] and not fixed[problem[name]] and math.type(v) == "integer" and v % 2 == 0 and v > 32
          and (not largest or v > small[largest]) then
        largest = name
      end
    end
    if not largest then break end
    local trial = copied(small)
    set_alike(problem, trial, largest, small[largest] // 2)
    if is_launchable(description, trial, derived, baseline) then
      small = trial
    else
      fixed[problem[largest]] = true
    end
  end
  local changed = {}
  for name in pairs(problem) do
    if small[name] ~= values[name] then changed[name] = small[name] end
  end
  return small, changed
end

-- Variables that a grid rounds up: the kernel is written for those that no tile divides.
local function rounded_up(description, problem)
  local names = {}
  for _, e in ipairs(grids(description)) do
    for name in string.gmatch(type(e) == "string" and e or "", "ceil_div%s*%(%s*([%a_][%w_]*)%s*,") do
      if problem[name] ~= nil then names[name] = true end
    end
  end
  return names
end

local function complete_problems(description, baseline)
  local problem, values = {}, copied(baseline)
  for name, v in pairs(description.problem) do
    problem[name] = default_of(v)
    values[name] = problem[name]
  end
  local derived = type(description.derived) == "table" and description.derived or {}
  local small = values
  if description.simulated == nil then
    local changed
    small, changed = shrink(description, values, problem, derived, baseline)
    if not is_empty(changed) then description.simulated = changed end
  end
  if description.ragged ~= nil then return end
  local trial = copied(small)
  for name in pairs(rounded_up(description, problem)) do
    local v = small[name]
    if math.type(v) == "integer" and v >= 16 and type(description.problem[name]) ~= "table" then
      set_alike(problem, trial, name, v > 4096 and 4003 or (v - v // 4 - 1) | 1)
    end
  end
  local edges, differs = {}, false
  for name in pairs(problem) do
    if trial[name] ~= values[name] and type(description.problem[name]) ~= "table" then edges[name] = trial[name] end
    differs = differs or trial[name] ~= small[name]
  end
  description.ragged = differs and is_launchable(description, trial, derived, baseline) and edges or false
end

local function check_names(description, field, params)
  local given = description[field]
  if given == nil then return end
  local known = {}
  for _, p in ipairs(params) do known[#known + 1] = p.name end
  for key, v in pairs(given) do
    local name = field == "outputs" and v or key
    local found = false
    for _, k in ipairs(known) do found = found or k == name end
    if not found then
      fail({ field, key }, "the kernel has no parameter %s%s", check.show(name), meant(tostring(name), known))
    end
  end
end

local function stem_of(file)
  local stem = string.gsub(string.match(file, "([^/]*)$"), "%.%w*$", "")
  stem = string.gsub(stem, "[^%w_]", "_")
  return string.sub(string.find(stem, "^%d") and "_" .. stem or stem, 1, 60)
end

-- The comment to start from: what has been inferred, and what is asked for with examples in its place.

-- Values around the one that a macro has.
local function suggested_values(v)
  if v == 0 or v == 1 then return "{ 0, 1 }" end
  if helpers.is_pow2(v) then
    local first, last = math.max(1, v // 4), math.max(v, math.min(v * 4, 1024))
    return "at.pow2(" .. first .. ", " .. last .. ")"
  end
  return "{ " .. math.max(1, v // 2) .. ", " .. v .. ", " .. 2 * v .. " }"
end

local function sketch_space(facts, defines, words, entry)
  local space, whys, first = {}, {}, nil
  for name in string.gmatch(entry, "%${([%w_]+)}") do
    space[#space + 1] = name .. " = at.pow2(" .. SKETCHED .. ", " .. SKETCHED * 32 .. ")"
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
        or "at.pow2(" .. SKETCHED .. ", " .. SKETCHED * 8 .. ")")
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

local function sketch(request, description, facts, found, signature, defines, file)
  local space, space_why, first = sketch_space(facts, defines, host.kernel_words(), description.kernel.entry)
  local count = example_count(signature, found.params)
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
  if #kernel_names(facts) > 1 or string.find(description.kernel.entry, "<", 1, true) then field("kernel", "entry = \"" .. description.kernel.entry .. "\"", "") end
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

--- Completes a description whose kernel is a file; leaves others alone.
function kernel_file.complete(description)
  local given = description.kernel
  if type(given) ~= "table" or given.source == nil then
    if captured.launch() then
      fail({ "kernel" }, "--captured is for a kernel in a file of its own: kernel = { source = \"FILE.cu\" }")
    end
    for _, field in ipairs { "sizes", "outputs" } do
      if description[field] ~= nil then
        fail({ field }, "is of a kernel in a file of its own: kernel = { source = \"FILE.cu\" }; with a template, buffers say it")
      end
    end
    return
  end
  local file = check.string(given.source, { "kernel", "source" }, "source = \"kernel.cu\"")
  if given.template ~= nil then fail({ "kernel", "template" }, "there is a source as well; write one of the two") end
  local facts, why = host.open_kernel(file, { includes = check.includes(given.include, { "kernel", "include" }) })
  if not facts then
    fail({ "kernel", "source" }, "there is no file '%s' in the script's folder%s", file, why)
  end
  if type(description.outputs) == "string" then description.outputs = { description.outputs } end
  for field, example in pairs { sizes = "x = \"n\"", outputs = "\"y\"" } do
    if description[field] ~= nil then check.table(description[field], { field }, field .. " = { " .. example .. " }") end
  end
  local had = {}
  for _, field in ipairs { "problem", "buffers", "sizes" } do had[field] = description[field] ~= nil end
  if description.name == nil then description.name = stem_of(file) end
  if description.problem == nil then description.problem = {} end
  if description.buffers == nil then description.buffers = {} end
  for _, field in ipairs { "problem", "buffers" } do check.table(description[field], { field }, field .. " = { ... }") end
  local launched = launches_of(description)
  local has_all = #launched > 0
  for _, one in ipairs(launched) do has_all = has_all and one.entry ~= nil end
  local targets = {}
  if not has_all then
    given.entry = choose_entry(facts, given, file)
    if host.sketches() then given.entry = sketched_entry(facts, given.entry) end
    targets[1] = { of = given, entry = given.entry, path = { "kernel", "entry" } }
  end
  for i, one in ipairs(launched) do
    if one.entry ~= nil then
      targets[#targets + 1] = { of = one, path = { "launches", i },
                                entry = check.string(one.entry, { "launches", i, "entry" }, "the name of a kernel") }
    end
  end
  local candidates, roots = {}, {}
  for _, target in ipairs(targets) do
    local found = find_kernels(facts, target.entry)
    if #found == 0 then
      local names = kernel_names(facts)
      fail(target.path, "%s has no kernel '%s'%s; there are: %s", file, target.entry, meant(target.entry, names),
           table.concat(names, ", "))
    end
    refuse_template(file, target.entry, found)
    for _, k in ipairs(found) do candidates[#candidates + 1] = k end
    roots[#roots + 1] = string.gsub(target.entry, "[${}]", " ")
    roots[#roots + 1] = found[1].name
  end
  local request = new_request()
  local launch = captured.launch()
  if description.space == nil then
    local known = {}
    for name, m in pairs(facts.macros) do
      if math.type(parse_c(m.value)) == "integer" then known[#known + 1] = name end
    end
    table.sort(known)
    ask(request, "space", (known[1] or "BLOCK") .. " = at.pow2(64, 1024)",
        #known > 0 and "macros that may be tuned: " .. table.concat(known, ", ", 1, math.min(#known, 12)) or "macros of the file")
  end
  if description.launch == nil and description.launches == nil then
    ask(request, "launch", "grid = \"ceil_div(n, BLOCK)\", block = \"BLOCK\"",
        launch and "the program launched " .. captured.show(launch) or "how many blocks, of how many threads")
  end
  local values, space_names = read_space(description.space)
  refuse_misspelt(facts, space_names)
  local parameters = {}
  for _, k in ipairs(candidates) do
    for _, p in ipairs(k.params) do parameters[p.name] = true end
  end
  local defines = find_defines(description, facts, space_names, parameters)
  local baseline = complete_baseline(description, facts, values, space_names)
  local known = copied(baseline)
  for name, v in pairs(description.problem) do known[name] = default_of(v) end
  if host.sketches() then -- of a template's numbers
    for _, target in ipairs(targets) do
      for name in string.gmatch(target.entry, "%${([%w_]+)}") do known[name] = SKETCHED end
    end
  end
  local derived = type(description.derived) == "table" and description.derived or {}
  local scope = scope_of(known, derived)
  local named = {}
  for key, v in pairs(type(given.args) == "table" and given.args or {}) do
    if type(key) == "string" then named[key] = v end
  end
  local named_only = given.args ~= nil and not is_empty(named)
  if named_only then given.args = nil end
  local params, whole = {}, nil
  for _, target in ipairs(targets) do
    local signature = ask_signature(target.entry, roots, defines, scope, file)
    local found = match_kernel(facts, target.entry, signature)
    rename_reserved(found.params)
    for _, p in ipairs(found.params) do params[#params + 1] = p end
    whole = whole or found
    if launch and target == targets[1] then
      captured.complete(description, launch, target.entry, signature, found.params, named, known,
                        function(e) return evaluate(e, scope_of(known, derived)) end)
      captured.complete_constants(description, given, launch)
    end
    if type(target.of.args) ~= "table" then
      target.of.args = infer_arguments(description, request, signature, found.params, named,
                                       function(name) return known[name] ~= nil or derived[name] ~= nil end)
    end
    if #request.order == 0 then check_arguments(description, signature, found.params, target.of.args) end
    if host.sketches() then host.sketch(sketch(request, description, facts, found, signature, defines, file)) end
  end
  check_names(description, "sizes", params)
  check_names(description, "outputs", params)
  tell(request, had, "the kernel " .. targets[1].entry .. " (" .. whole.file .. ":" .. whole.line .. ")")
  complete_work(description)
  if launch then
    description.simulated, description.ragged = nil, false
  else
    complete_problems(description, baseline)
  end
  local options = {}
  for _, option in ipairs(OPTIONS) do options[#options + 1] = option end
  for _, option in ipairs(type(given.options) == "table" and given.options or { given.options }) do
    options[#options + 1] = option
  end
  given.options = options
  given[kernel.DEFINES] = defines
  description.sizes, description.outputs = nil, nil
end

return kernel_file
