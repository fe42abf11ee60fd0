-- The T1 interchange format of auto-tuners (Kernel Tuner, KTT, BAT), read as a pattern: a JSON file that
-- describes a space, a kernel's file and its arguments becomes the table that a script would have given.
--
-- Its schema is that of github.com/odgaard/TuningSchema; files of Kernel Tuner and of BAT have members
-- beside it (ProblemSize, GridDivX, MemType, Output, Default), which are taken as those programs take them.
-- A field that cannot be honoured is refused with the file's line; one that is odd, but does not change what is tuned,
-- is a warning (host.warn).

local host, text = ...

local at = host.own "autotune.lua"
local check = host.own "check.lua"
local json = host.own "json.lua"
local members = host.own "t1_members.lua"
local expression = host.own "python_expression.lua"
local python = host.own "python.lua"
local arguments = host.own "t1_arguments.lua"
local source = host.own "t1_kernel.lua"
local fail, warn, member, needed, word = members.fail, members.warn, members.member, members.needed, members.word
local show, meant = check.show, check.meant

-- ---- the space ----

local TYPES = { boolean = "truth", string = "text" }

-- The type of all the values; numbers that are not all whole are numbers.
local function common_type(node, values, name)
  local of
  for _, v in ipairs(values) do
    local other = TYPES[type(v)] or math.type(v) == "integer" and "whole" or "number"
    local numeric = (of == "whole" or of == "number") and (other == "whole" or other == "number")
    if of and of ~= other and not numeric then
      fail(node, "Values of %s are of several types: %s and %s", name, show(values[1]), show(v))
    end
    of = of and of ~= other and "number" or other
  end
  return of
end

local function same(a, b)
  return a == b and type(a) == type(b)
end

-- The Default as a value; nil: there is none.
local function read_default(given, p)
  local node = member(given, "Default", nil, p.name)
  if not node then return nil end
  local wanted = node.value
  if node.kind == "array" and #wanted == 1 then wanted = wanted[1].value end
  for _, v in ipairs(p.values) do
    if same(v, wanted) then return v end
  end
  warn(node, "the Default of %s, %s, is not one of its Values: the baseline takes another", p.name, show(wanted))
end

local function read_values(node, what)
  local values = {}
  if node.kind == "array" then
    for i, v in ipairs(node.value) do values[i] = v.value end
  else
    values = members.constant(members.expect(node, "string", what), what)
  end
  if not check.SCALARS[type(values)] and #values == 0 then fail(node, "%s: there is no value", what) end
  return check.SCALARS[type(values)] and { values } or values
end

local function read_parameter(given, spec)
  members.expect(given, "object", "a tuning parameter")
  members.tell_unknown(given, { "Name", "Type", "Values", "Default" }, "a tuning parameter")
  local name = needed(given, "Name", "string", "a tuning parameter")
  local p = { name = name.value, node = name }
  if spec.types[p.name] then fail(name, "there are two tuning parameters %s", p.name) end
  word(given, "Type", { "int", "uint", "float", "bool", "string" }, nil, p.name)
  local node = needed(given, "Values", nil, p.name)
  p.values = read_values(node, "Values of " .. p.name)
  for _, v in ipairs(p.values) do
    if not check.SCALARS[type(v)] then fail(node, "Values of %s: a value is a %s", p.name, type(v)) end
  end
  p.default = read_default(given, p)
  spec.types[p.name] = common_type(node, p.values, p.name)
  spec.lists[p.name], spec.taken[p.name] = p.values, true
  spec.place("space." .. #spec.parameters + 1, node, "Values of " .. p.name)
  spec.parameters[#spec.parameters + 1] = p
end

local function read_condition(given, spec)
  members.expect(given, "object", "a condition")
  members.tell_unknown(given, { "Expression", "Parameters" }, "a condition")
  local node = needed(given, "Expression", "string", "a condition")
  local tree = members.tree(node, "Expression")
  members.check_names(node, tree, { spec.types }, "Expression")
  local list, named, reads = member(given, "Parameters", "array", "a condition"), {}, python.names(tree)
  for _, one in ipairs(list and list.value or {}) do
    if spec.types[one.value] == nil then
      local known = {}
      for i, p in ipairs(spec.parameters) do known[i] = p.name end
      fail(one, "Parameters: there is no tuning parameter %s%s", show(one.value), meant(tostring(one.value), known))
    end
    named[one.value] = true
  end
  for name in pairs(list and reads or {}) do
    if not named[name] then warn(list, "Parameters does not name %s, which the Expression reads", name) end
  end
  local scope = { types = spec.types, lists = spec.lists, values = {}, fail = members.failing(node, "Expression") }
  spec.place("where." .. #spec.conditions + 1, node, "Expression")
  spec.conditions[#spec.conditions + 1] = {
    node = node, tree = tree, text = expression.condition(tree, scope), reads = reads,
  }
end

local function read_space(root, spec)
  local space = needed(root, "ConfigurationSpace", "object", "the file")
  members.tell_unknown(space, { "TuningParameters", "Conditions" }, "ConfigurationSpace")
  local list = needed(space, "TuningParameters", "array", "ConfigurationSpace")
  if #list.value == 0 then fail(list, "there is no tuning parameter") end
  for _, given in ipairs(list.value) do read_parameter(given, spec) end
  local conditions = member(space, "Conditions", "array", "ConfigurationSpace")
  for _, given in ipairs(conditions and conditions.value or {}) do read_condition(given, spec) end
end

-- So many conditions are evaluated at most to find a configuration that is valid.
local MOST_TRIALS = 5000

-- Gives the parameters from `place` on values that the conditions allow, the Defaults first.
local function choose(spec, chosen, place, trials)
  local p = spec.parameters[place]
  if not p then return true end
  local order = { p.default }
  for _, v in ipairs(p.values) do order[#order + 1] = v end
  for _, v in ipairs(order) do
    chosen[p.name] = v
    local holds = true
    for _, c in ipairs(spec.conditions) do
      if holds and c.last == place then
        trials.left = trials.left - 1
        holds = python.truth(python.evaluate(c.tree, chosen, members.failing(c.node, "Expression")))
      end
    end
    if holds and choose(spec, chosen, place + 1, trials) then return true end
    if trials.left <= 0 then return false end
  end
  return false
end

-- The Defaults, or a configuration near them where the conditions rule them out.
local function find_baseline(root, spec)
  for _, c in ipairs(spec.conditions) do
    for i, p in ipairs(spec.parameters) do
      if c.reads[p.name] then c.last = i end
    end
  end
  local chosen = {}
  local found = choose(spec, chosen, 1, { left = MOST_TRIALS })
  for _, p in ipairs(spec.parameters) do
    if not found then chosen[p.name] = p.default == nil and p.values[1] or p.default end
    if p.default ~= nil and not same(p.default, chosen[p.name]) then
      warn(root.value.ConfigurationSpace, "a condition rules the Defaults out: the baseline has %s=%s", p.name,
           tostring(chosen[p.name]))
    end
  end
  return chosen
end

-- ---- the launch ----

local AXES = { "X", "Y", "Z" }

-- ProblemSize: variables of the problem, which sizes and grids read.
local function read_problem_size(kernel, spec)
  local node = member(kernel, "ProblemSize", nil, "KernelSpecification")
  if not node then return end
  local list = node.kind == "array" and node.value or { node }
  if #list == 0 or #list > 3 then fail(node, "ProblemSize has %d numbers; one to three are allowed", #list) end
  spec.sizes = { is_list = node.kind == "array" }
  for i, one in ipairs(list) do
    local v = members.constant(one, "ProblemSize")
    if math.type(v) ~= "integer" or v < 1 then fail(one, "ProblemSize: %s is no size", show(v)) end
    spec.sizes[i] = spec.fresh("problem_size_" .. string.lower(AXES[i]))
    spec.problem[spec.sizes[i]], spec.variables[spec.sizes[i]] = v, "whole"
    spec.place("problem." .. spec.sizes[i], one, "ProblemSize")
  end
end

-- The tree with variables of the problem for ProblemSize and its items.
local function with_problem(spec, node, tree)
  local function is_size(one) return one.op == "name" and one.name == "ProblemSize" and spec.sizes end
  if is_size(tree) and not spec.sizes.is_list then return { op = "name", name = spec.sizes[1] } end
  if tree.op == "index" and is_size(tree[1]) and tree[2].op == "whole" then
    local name = spec.sizes[tree[2].value + 1] or fail(node, "ProblemSize has no item %d", tree[2].value)
    return { op = "name", name = name }
  end
  local copy = { op = tree.op, name = tree.name, value = tree.value }
  for i = 1, #tree do copy[i] = with_problem(spec, node, tree[i]) end
  return copy
end

-- An expression of this project that reads parameters and variables of the problem.
local function translated(node, spec, what)
  local tree = with_problem(spec, node, members.tree(node, what))
  members.check_names(node, tree, { spec.types, spec.variables }, what)
  for name in pairs(python.names(tree)) do spec.read[name] = true end
  local types = {}
  for name, of in pairs(spec.types) do types[name] = of end
  for name, of in pairs(spec.variables) do types[name] = of end
  local text, of = expression.translate(tree, {
    types = types, lists = spec.lists, values = {}, fail = members.failing(node, what),
  })
  if of ~= "whole" and of ~= "number" then fail(node, "%s: \"%s\" is a %s, not a number", what, node.value, of) end
  return text
end

-- X, Y and Z of GlobalSize or LocalSize: expressions, 1 where nothing is said.
local function read_axes(given, spec, what)
  local list = {}
  for i, axis in ipairs(AXES) do
    local node = member(given, axis, nil, what)
    list[i] = node and translated(node, spec, what .. "." .. axis) or "1"
  end
  return list
end

-- Blocks of a grid whose axis `i` has so many parts of the problem. Kernel Tuner divides by the block's
-- size where GridDiv says nothing.
local function divided(kernel, spec, i)
  local name = "GridDiv" .. AXES[i]
  local node = member(kernel, name, "array", "KernelSpecification")
  local divisors = {}
  for k, one in ipairs(node and node.value or {}) do divisors[k] = "(" .. translated(one, spec, name) .. ")" end
  local block = "block_size_" .. string.lower(AXES[i])
  if #divisors == 0 and spec.types[block] then
    divisors[1], spec.read[block] = block, true
  end
  if not spec.sizes[i] then return "1" end
  return #divisors > 0 and "ceil_div(" .. spec.sizes[i] .. ", " .. table.concat(divisors, " * ") .. ")" or spec.sizes[i]
end

-- The kernel's name, with the types of KTT's KernelTypeNames.
local function entry_of(kernel)
  local types, name = member(kernel, "KernelTypeNames", "array", "KernelSpecification"), kernel.value.KernelName.value
  local list = {}
  for i, one in ipairs(types and types.value or {}) do
    list[i] = members.expect(one, "string", "an item of KernelTypeNames").value
  end
  return #list > 0 and name .. "<" .. table.concat(list, ", ") .. ">" or name
end

local function read_launch(kernel, spec)
  local what = "KernelSpecification"
  local block = read_axes(needed(kernel, "LocalSize", "object", what), spec, "LocalSize")
  local given, grid = member(kernel, "GlobalSize", "object", what), {}
  local type = word(kernel, "GlobalSizeType", { "CUDA", "OpenCL", "Vulkan" }, "CUDA", what)
  if spec.sizes then
    for i = 1, 3 do grid[i] = divided(kernel, spec, i) end
    spec.place("launch.grid", kernel.value.ProblemSize, "ProblemSize")
  else
    given = needed(kernel, "GlobalSize", "object", what)
    grid = read_axes(given, spec, "GlobalSize")
    for i = 1, 3 do
      -- OpenCL counts threads.
      if type == "OpenCL" then grid[i] = "ceil_div(" .. grid[i] .. ", " .. block[i] .. ")" end
    end
    for i, axis in ipairs(AXES) do
      spec.place("launch.grid." .. i, given.value[axis] or given, "GlobalSize." .. axis)
    end
  end
  for i, axis in ipairs(AXES) do
    local from = kernel.value.LocalSize
    spec.place("launch.block." .. i, from.value[axis] or from, "LocalSize." .. axis)
  end
  return { grid = grid, block = block }
end

-- Warns where a file's GlobalSize and its ProblemSize, which is taken, do not agree: files of Kernel Tuner often have
-- another program's GlobalSize.
local function compare_grids(root, spec, baseline)
  local kernel = root.value.KernelSpecification
  local global = member(kernel, "GlobalSize", "object", "KernelSpecification")
  if not spec.sizes or not global then return end
  local names, size = {}, kernel.value.ProblemSize
  for name, v in pairs(spec.problem) do names[name] = v end
  for name, v in pairs(baseline) do names[name] = v end
  local list = {}
  for i, name in ipairs(spec.sizes) do list[i] = spec.problem[name] end
  names.ProblemSize = spec.sizes.is_list and list or list[1]
  local function value(node, otherwise)
    if not node or node.kind == "null" then return otherwise end
    local v = python.evaluate(members.tree(node, "GlobalSize"), names, members.failing(node, "GlobalSize"))
    if type(v) == "boolean" then return v and 1 or 0 end
    return type(v) == "number" and v or fail(node, "GlobalSize: %s is no number", show(v))
  end
  local given, taken, differ = {}, {}, false
  for i, axis in ipairs(AXES) do
    local per_block, divisor = value(kernel.value.LocalSize.value[axis], 1), 1
    local divisors = kernel.value["GridDiv" .. axis]
    for _, one in ipairs(divisors and type(divisors.value) == "table" and divisors.value or {}) do
      divisor = divisor * value(one, 1)
    end
    if divisor == 1 then divisor = names["block_size_" .. string.lower(axis)] or 1 end
    given[i] = value(global.value[axis], 1)
    if word(kernel, "GlobalSizeType", { "CUDA", "OpenCL", "Vulkan" }, "CUDA", "") == "OpenCL" then
      given[i] = math.ceil(given[i] / per_block)
    end
    taken[i] = math.ceil((list[i] or 1) / divisor)
    differ = differ or given[i] ~= taken[i]
  end
  if differ then
    warn(size, "GlobalSize gives %s blocks of the baseline, and ProblemSize %s, which is taken",
         table.concat(given, " x "), table.concat(taken, " x "))
  end
end

-- ---- the kernel ----

local FOR_THE_DEVICE = "code is made for the device at hand (--device, or --arch where there is none)"
local NOT_LINKED = "kernels are not linked with libraries"
local REFUSED_OPTIONS = {
  { "^%-%-?arch", FOR_THE_DEVICE }, { "^%-%-?gencode", FOR_THE_DEVICE }, { "^%-%-?gpu%-", FOR_THE_DEVICE },
  { "^%-%-?generate%-code", FOR_THE_DEVICE }, { "^%-[lL]", NOT_LINKED }, { "^%-%-librar", NOT_LINKED },
}

-- CompilerOptions, and the folders that -I names in them.
local function read_options(kernel, spec)
  local options, includes, is_old = {}, {}, false
  local list = member(kernel, "CompilerOptions", "array", "KernelSpecification")
  for _, one in ipairs(list and list.value or {}) do
    local option = members.expect(one, "string", "an item of CompilerOptions").value
    if string.find(option, "${", 1, true) then fail(one, "an option cannot have ${ in it: %s", show(option)) end
    if option ~= "" and not string.find(option, "^%-") then fail(one, "%s is no compiler's option", show(option)) end
    for _, refused in ipairs(REFUSED_OPTIONS) do
      if string.find(option, refused[1]) and option ~= "-lineinfo" then fail(one, "the option %s cannot be honoured: %s", show(option), refused[2]) end
    end
    local folder = string.match(option, "^%-I%s*(.+)$")
    if folder then
      folder = string.gsub(string.gsub(folder, "^%./", ""), "/$", "")
      -- The file's own folder is searched anyway.
      if folder ~= "." then includes[#includes + 1] = folder end
      spec.place("kernel.include." .. #includes, one, "CompilerOptions")
    elseif option ~= "" then
      options[#options + 1] = option
      spec.place("kernel.options." .. #options, one, "CompilerOptions")
    end
    is_old = is_old or string.find(option, "^%-%-?std=c%+%+[01][^7-9]") ~= nil
  end
  -- The Toolkit's own headers refuse what is older than C++17 unless they are told not to.
  if is_old then options[#options + 1] = "-DCCCL_IGNORE_DEPRECATED_CPP_DIALECT" end
  return options, #includes > 0 and includes or nil
end

local KERNEL_MEMBERS = {
  "Language", "CompilerOptions", "KernelName", "KernelFile", "KernelTypeNames", "GlobalSizeType", "LocalSize", "GlobalSize",
  "GridDivX", "GridDivY", "GridDivZ", "ProblemSize", "SharedMemory", "Arguments", "ReferenceArguments", "Device",
  "Profiling", "SimulationInput", "BenchmarkName", "BenchmarkPath", "Stream", "Misc", "SharedMemoryOriginal",
}

local function read_kernel(root, spec)
  local what = "KernelSpecification"
  local kernel = needed(root, what, "object", "the file")
  members.tell_unknown(kernel, KERNEL_MEMBERS, what)
  local language = needed(kernel, "Language", "string", what)
  if language.value ~= "CUDA" then
    fail(language, "the Language is %s; kernels in CUDA can be tuned here", show(language.value))
  end
  read_problem_size(kernel, spec)
  local launch = read_launch(kernel, spec)
  local shared = member(kernel, "SharedMemory", nil, what)
  local given, list = member(kernel, "Arguments", "array", what), {}
  for i, one in ipairs(given and given.value or {}) do list[i] = arguments.read(one, spec, i) end
  local references = member(kernel, "ReferenceArguments", "array", what)
  spec.reference = arguments.references(references and references.value or {}, spec)
  local options, includes = read_options(kernel, spec)
  local args = source.read(kernel, spec, list, includes)
  local values = {}
  for i, argument in ipairs(args) do
    values[i] = argument.value
    spec.place("kernel.args." .. i, argument.node, argument.what)
  end
  local file, field = kernel.value.KernelFile, "source"
  if source.is_template(file.value) then field = "template" end
  spec.place("kernel", kernel, what)
  spec.place("kernel.args", kernel.value.Arguments or kernel, "Arguments")
  spec.place("kernel." .. field, file, "KernelFile")
  spec.place("kernel.entry", kernel.value.KernelName, "KernelName")
  if shared then spec.place("kernel.shared", shared, "SharedMemory") end
  return launch, {
    [field] = file.value,
    entry = entry_of(kernel),
    args = values,
    constants = spec.constants,
    options = options,
    include = includes,
    shared = shared and translated(shared, spec, "SharedMemory") or nil,
  }
end

-- ---- the file ----

-- Messages say this of a place in the table: { line, name }, and the order of its keys.
local function new_spec()
  local spec = {
    parameters = {}, conditions = {}, types = {}, lists = {}, taken = {}, variables = {},
    problem = {}, buffers = {}, order = {}, bytes = {}, constants = {}, generated = {}, results = {}, lines = {}, read = {},
  }
  function spec.place(path, node, name) spec.lines[path] = { node.line, name } end
  function spec.with_problem(node, tree) return with_problem(spec, node, tree) end

  --- A name that no other has, like `name`, or like `otherwise` where that cannot be one.
  function spec.fresh(name, otherwise)
    local fresh = string.gsub(name, "[^%w_]", "_")
    if not string.find(fresh, "^%a") or #fresh > 50 then fresh = otherwise end
    while spec.taken[fresh] or host.is_helper(fresh) or not host.load("local " .. fresh, "=name") do
      fresh = fresh .. "_"
    end
    spec.taken[fresh] = true
    return fresh
  end
  return spec
end

-- BenchmarkConfig: constants that kernels get as macros, beside the tuning parameters.
local function read_settings(root, spec)
  local config = member(root, "BenchmarkConfig", "object", "the file")
  for _, name in ipairs(config and config.names or {}) do
    local node = config.value[name]
    local is_value = check.SCALARS[type(node.value)] and node.kind ~= "null"
    if is_value and not spec.taken[name] and spec.fresh(name, "") == name then
      spec.problem[name], spec.variables[name] = node.value, common_type(node, { node.value }, name)
      spec.place("problem." .. name, node, "BenchmarkConfig." .. name)
    end
  end
end

local function pattern_name(root)
  local general = member(root, "General", "object", "the file")
  local named = general and member(general, "BenchmarkName", "string", "General")
    or needed(root.value.KernelSpecification, "KernelName", "string", "KernelSpecification")
  local name = string.gsub(string.sub(named.value, 1, 60), "[^%w_]", "_")
  return string.find(name, "^[%a_]") and name or "t1_" .. string.sub(name, 1, 57)
end

local root = json.read(text, function(line, message) host.fail(line, message) end)
members.expect(root, "object", "the file")
if not root.value.ConfigurationSpace and not root.value.KernelSpecification then
  host.fail(1, "JSON in place of a script is a T1 file ('autotune help t1'), and this has neither ConfigurationSpace nor "
               .. "KernelSpecification; records and measurements are for 'autotune results', 'plot' and 'compare'")
end
members.tell_unknown(root, {
  "ConfigurationSpace", "KernelSpecification", "General", "Search", "Budget", "BenchmarkConfig", "SearchSettings",
  "verification", "$schema",
}, "the file")
local spec = new_spec()
host.places(spec.lines, { buffers = spec.order })
read_space(root, spec)
read_settings(root, spec)
local launch, kernel = read_kernel(root, spec)
local space, where = {}, {}
for i, p in ipairs(spec.parameters) do space[i] = { p.name, p.values } end
for i, c in ipairs(spec.conditions) do where[i] = c.text end
local baseline = find_baseline(root, spec)
compare_grids(root, spec, baseline)
return at.pattern {
  name = pattern_name(root),
  summary = "the kernel " .. kernel.entry .. " of " .. (kernel.source or kernel.template),
  problem = spec.problem,
  space = space,
  where = where,
  baseline = baseline,
  buffers = spec.buffers,
  kernel = kernel,
  launch = launch,
  prepare = arguments.generate(spec),
  reference = spec.reference,
  -- Sizes stand in the kernel's file, too: no other problem than this is known to be one.
  ragged = false,
  simulated = false,
  traffic = #spec.bytes > 0 and table.concat(spec.bytes, " + ") or nil,
}
