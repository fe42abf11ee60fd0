-- Reads the buffers and the kernels of a pattern: templates, launches, arguments.

local host = ...

local check = host.own "check.lua"
local tolerance = host.own "tolerance.lua"
local view = host.own "view.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local line_of, ordered_keys, KIND = check.line_of, check.ordered_keys, check.KIND
local expression, optional, expressions = check.expression, check.optional, check.expressions
local word = check.word

local kernel = {}

-- keys that kernel_file.lua adds: to a buffer, the path of the field with its size; to a kernel, the file's macros
kernel.PLACE, kernel.DEFINES = "(place)", "(defines)"

local ROLES = { input = true, output = true, inout = true, scratch = true }
kernel.ARGUMENTS = {
  "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "half", "bfloat16",
  "float", "double", "bool",
}

local MOST_RECORD = 4096 -- elements of a record
local BUFFER_FIELDS = {
  "dtype", "count", "fill", "limit", "block", "values", "shape", "tolerance", "compare", "order", "record",
}

local function is_file(v) return type(v) == "table" and v[KIND] == "file" end

local FILLS = {
  "uniform", "bits", "zero", "constant", "values", "index", "permutation", "below", "modulo", "sorted",
  "skewed", "local", "offsets",
}

-- Reads fill = "below", fill = at.values { 1, 2, 1 } or fill = at.constant(0.5).
local function read_fill(b, where, taken)
  local given, path = b.fill, child(where, "fill")
  local values = b.values
  if type(given) == "table" and given[KIND] == "fill" then
    if values ~= nil then fail(path, " has values, and so has the buffer; give only one of them") end
    values, given = given.values, "values"
    if type(values) ~= "table" then values = { values } end
  end
  local fill = word(given == nil and "values" or given, path, FILLS, taken)
  return fill, values ~= nil and expressions(values, child(where, "values"), math.huge) or nil
end

-- the kind of each name of the pattern; set by read_buffers()
local taken = {}

function kernel.read_buffers(description, names_taken)
  taken = names_taken
  local path = { "buffers" }
  local given = description.buffers
  if given == nil then return {} end
  check.table(given, path, "buffers = { src = at.input { dtype = \"float\", count = \"rows\" } }")
  local list = {}
  for i, name in ipairs(ordered_keys(given, path)) do
    local b = given[name]
    local where = type(b) == "table" and b[kernel.PLACE] or child(path, name)
    check.name(name, where, taken)
    taken[name] = "buffer"
    if type(b) ~= "table" or not ROLES[b[KIND]] then
      fail(where, " is %s; write at.input, at.output, at.inout or at.scratch { ... }", show(b))
    end
    local role = b[KIND]
    b[KIND], b[kernel.PLACE] = nil, nil
    check.fields(b, where, BUFFER_FIELDS)
    local filled = role == "input" or role == "inout"
    for _, field in ipairs { "fill", "limit", "block", "values" } do
      if b[field] ~= nil and not filled then
        fail(child(where, field), "only at.input and at.inout are filled, and this is at.%s; write at.inout if the "
          .. "kernel reads and writes the buffer", role)
      end
    end
    for _, field in ipairs { "tolerance", "compare", "order" } do
      if b[field] ~= nil and role ~= "output" and role ~= "inout" then
        fail(child(where, field), "only at.output and at.inout are compared, and this is at.%s", role)
      end
    end
    if b.order ~= nil and b.order ~= "any" then
      fail(child(where, "order"), " is %s; the only possible value is order = \"any\", which compares elements in "
        .. "any order", show(b.order))
    end
    if b.record ~= nil and (math.type(b.record) ~= "integer" or b.record < 1 or b.record > MOST_RECORD or b.order == nil) then
      fail(child(where, "record"), " is %s; write the number of elements of a record, 1 to %d, which order = \"any\" "
        .. "keeps together", show(b.record), MOST_RECORD)
    end
    local fill, values, file
    if filled and is_file(b.fill) then
      for _, field in ipairs { "limit", "block", "values" } do
        if b[field] ~= nil then fail(child(where, field), " must be left out, because a file fills the buffer") end
      end
      file, b.fill = b.fill, nil
      if b.count == nil then b.count = file.count end
    elseif filled and (b.fill ~= nil or b.values ~= nil) then
      fill, values = read_fill(b, where, taken)
    end
    if b.limit ~= nil and b.fill == nil and not file then
      fail(child(where, "limit"), " needs a fill, such as fill = \"modulo\", whose values lie below this limit")
    end
    list[i] = {
      name = name,
      role = role,
      line = line_of(where),
      dtype = word(b.dtype, child(where, "dtype"), host.dtypes(), taken),
      count = expression(b.count, child(where, "count")),
      fill = fill,
      file = file and file.number or 0,
      head = file ~= nil and file.head,
      expected = 0,
      values = values,
      limit = optional(b.limit, child(where, "limit")),
      block = optional(b.block, child(where, "block")),
      tolerance = b.tolerance ~= nil and tolerance.read(b.tolerance, child(where, "tolerance")) or nil,
      record = b.order and (b.record or 1) or 0,
      compare = optional(b.compare, child(where, "compare")),
      shape = b.shape ~= nil and expressions(b.shape, child(where, "shape"), 4) or {},
    }
  end
  if #list > 256 then fail(path, " has %d buffers; at most 256 are allowed", #list) end
  return list
end

local MOST_LAUNCHES, MOST_ARGUMENTS, MOST_MEMBERS = 32, 1024, 8192

local function read_struct(v, where, buffers)
  local members = {}
  check.list(v.members, where, MOST_MEMBERS)
  if #v.members == 0 then fail(where, " has no members; give the struct at least one, for example at.float(...)") end
  for i, member in ipairs(v.members) do
    local path, place = child(where, i), nil
    for b, buffer in ipairs(buffers) do
      if member == buffer.name then place = b end
    end
    if not place and (type(member) ~= "table" or member[KIND] ~= "argument") then
      fail(path, " is %s; a struct's members are at.float(...), at.int32(...) and the like, and names of buffers",
           show(member))
    end
    members[i] = place and { type = "buffer", buffer = place } or { type = member.type, value = expression(member.value, path) }
  end
  return { type = "struct", members = members }
end

-- Returns the element types that a variable may have: those in its domain, or all types if it has no domain.
local function domain_of_types(domain, types, known)
  local values = {}
  for _, v in ipairs(domain and domain.values or types) do
    if known[v] then values[#values + 1] = v end
  end
  return { values = values }
end

-- Checks that the value of each variable that is used as a dtype is an element type.
function kernel.check_types(description, p)
  local types = host.dtypes()
  local known = {}
  for _, t in ipairs(types) do known[t] = true end
  for _, name in ipairs(ordered_keys(description.buffers or {}, { "buffers" })) do
    local dtype = description.buffers[name].dtype
    for _, variable in ipairs(p.problem) do
      for key, v in pairs(variable) do
        if variable.name == dtype and key ~= "name" and key ~= "domain" and key ~= "is_set" and not known[v] then
          local text = string.format("there is no element type %s%s (buffers.%s has it). The types are: %s", show(v),
                                     meant(tostring(v), types), name, table.concat(types, ", "))
          if variable.is_set and v == variable.tuned then
            host.fail(0, string.format("--set %s=%s: %s", dtype, v, text), true)
          end
          fail({ "problem", dtype }, "%s", text)
        end
      end
      if variable.name == dtype then variable.domain = domain_of_types(variable.domain, types, known) end
    end
  end
end

-- Checks that an argument which is a single word names a buffer or a variable.
local function check_argument(v, path, buffers)
  if type(v) ~= "string" or not string.find(v, "^[%a_][%w_]*$") or taken[v] then return end
  if v == "true" or v == "false" then return end
  local names = {}
  for i, buffer in ipairs(buffers) do names[i] = buffer.name end
  if #names > 0 then
    local near = meant(v, check.sorted_keys(taken))
    fail(path, "there is no buffer or variable '%s'%s%s %s", v, near, near ~= "" and " The buffers are" or "; the buffers are",
         table.concat(names, ", "))
  end
end

local function read_arguments(given, path, buffers)
  check.table(given, path, "args = { \"src\", \"dst\", \"rows\" }")
  check.list(given, path, MOST_ARGUMENTS)
  local list = {}
  for key, v in ipairs(given) do
    local where = child(path, key)
    local argument
    for i, buffer in ipairs(buffers) do
      if v == buffer.name then argument = { type = "buffer", buffer = i } end
    end
    if type(v) == "table" and v[KIND] == "argument" then
      argument = { type = v.type, value = expression(v.value, where) }
    elseif type(v) == "table" and v[KIND] == "struct" then
      argument = read_struct(v, where, buffers)
    elseif view.is(v) then
      argument = view.read(v, where, buffers, taken)
    end
    if not argument then check_argument(v, where, buffers) end
    list[key] = argument or { type = "plain", value = expression(v, where) }
  end
  return list
end

-- Reads constants = { NAME = "buffer" }: variables of the module that get a buffer's contents before the launch and, if
-- the buffer has results, are copied back after it. Kernels must use a buffer of results only through its variable.
local function read_constants(given, path, buffers, launches)
  local list = {}
  if given == nil then return list end
  check.table(given, path, "constants = { weights = \"weights\" }, a variable and a buffer")
  local names = {}
  for i, buffer in ipairs(buffers) do names[i] = buffer.name end
  for _, name in ipairs(ordered_keys(given, path)) do
    local where, found = child(path, name), nil
    if type(name) ~= "string" or #name > 63 or not string.find(name, "^[%a_][%w_]*$") then
      fail(where, "%s is not a valid name of a variable: use at most 63 letters, digits and _", show(name))
    end
    for i, buffer in ipairs(buffers) do
      if given[name] == buffer.name then found = i end
    end
    if not found then
      fail(where, "%s is not one of the buffers%s", show(given[name]),
           meant(tostring(given[name]), names))
    end
    if buffers[found].role == "scratch" then
      fail(where, " needs an at.input, at.output or at.inout for the variable's contents, and %s is at.scratch", given[name])
    end
    for _, one in ipairs(buffers[found].role ~= "input" and launches or {}) do
      for _, argument in ipairs(one.args) do
        local reached = argument.buffer == found
        for _, member in ipairs(argument.members or {}) do reached = reached or member.buffer == found end
        if reached then
          fail(where, "%s holds the results of the variable %s and is also an argument of the kernel; use it for "
            .. "one of the two only",
               given[name], name)
        end
      end
    end
    for _, other in ipairs(list) do
      if other.buffer == found and buffers[found].role ~= "input" then
        fail(where, "%s already holds the results of the variable %s; use another buffer", given[name], other.name)
      end
    end
    list[#list + 1] = { name = name, buffer = found }
  end
  if #list > 4 then fail(path, " has %d variables; at most 4 are allowed", #list) end
  return list
end

-- Returns the expression for a text with ${...}: "--maxrregcount=${cap}" becomes "--maxrregcount=" .. (cap).
local function text_expression(v, path)
  local e = expression(v, path)
  local pieces, at_byte = {}, 1
  while true do
    local open = string.find(v, "${", at_byte, true)
    local literal = string.sub(v, at_byte, open and open - 1)
    if literal ~= "" then pieces[#pieces + 1] = string.format("%q", literal) end
    if not open then break end
    local close = string.find(v, "}", open, true)
    if not close then fail(path, "a ${ has no closing } on its line") end
    pieces[#pieces + 1] = "tostring(" .. string.sub(v, open + 2, close - 1) .. ")"
    at_byte = close + 1
  end
  e.text = table.concat(pieces, " .. ")
  return e
end

local function read_options(given, path)
  local list = check.texts(given, path, "options = { \"--use_fast_math\" }",
                           "an NVRTC option, for example \"--use_fast_math\"")
  for i, one in ipairs(list) do list[i] = text_expression(one.text, one.path) end
  return list
end

-- Reads a kernel's name, as an expression of C++: "scale", "ns::scale<${block}, float>", "(void(*)(float*, int))scale".
local function read_entry(v, path)
  check.string(v, path, "the kernel's name, for example \"scale\" or \"ns::scale<${block}, float>\"")
  local bare = string.gsub(string.gsub(string.gsub(v, "%${[^}]*}", "x"), "%b()", " "), "%b<>", "")
  if not string.find(v, "^%s*[%a_:(&$]") or string.find(v, "[;\"#\\]") or string.find(bare, "[%w_]%s+[%w_]") then
    fail(path, "%s is not the name of a kernel; write for example \"scale\", \"ns::scale<${block}, float>\" or, of several, \"(void(*)(float*, int))scale\"",
         show(v))
  end
  return text_expression(v, path)
end

local LAUNCH_FIELDS = { "grid", "block", "shared", "cluster", "balanced", "cooperative", "times" }
local GROUP_FIELDS = { "times", "launches" }
local LAUNCHES_FIELDS = {
  "entry", "args", "when", "times", "grid", "block", "shared", "cluster", "balanced", "cooperative",
}

-- Reads `times` of a launch or of a group of launches. Launches that are repeated together have the same `number`.
local function read_rounds(given, path, number)
  if given.times == nil then return { number = 0 } end
  return { number = number, times = expression(given.times, child(path, "times")) }
end

-- Reads a launch. Fields that it lacks are taken from `common` (entry, args, shared).
local function read_launch(given, path, common, buffers, rounds)
  local entry, entry_path = given.entry, child(path, "entry")
  local args, args_path = given.args, child(path, "args")
  local shared, shared_path = given.shared, child(path, "shared")
  if entry == nil then entry, entry_path = common.entry, common.entry_path end
  if args == nil then args, args_path = common.args or {}, common.args_path end
  if shared == nil then shared, shared_path = common.shared, common.shared_path end
  return {
    entry = read_entry(entry, entry_path),
    entry_text = entry,
    line = line_of(path),
    args = read_arguments(args, args_path, buffers),
    group = rounds.number,
    when = optional(given.when, child(path, "when")),
    times = rounds.times,
    grid = expressions(given.grid, child(path, "grid"), 3),
    block = expressions(given.block, child(path, "block"), 3),
    cluster = given.cluster ~= nil and expressions(given.cluster, child(path, "cluster"), 3) or {},
    balanced = optional(given.balanced, child(path, "balanced")),
    cooperative = optional(given.cooperative, child(path, "cooperative")),
    shared = optional(shared, shared_path),
  }
end

-- Reads launches = { { grid, block ... }, ... }, which run one after the other.
local function read_launches(given, path, common, buffers)
  check.table(given, path, "launches = { { entry = \"rows\", grid = \"n\", block = 256 }, ... }")
  check.list(given, path, MOST_LAUNCHES)
  if #given == 0 then fail(path, " is empty") end
  local list, arguments = {}, 0
  local function add(v, where, rounds)
    check.fields(v, where, LAUNCHES_FIELDS)
    list[#list + 1] = read_launch(v, where, common, buffers, rounds)
    arguments = arguments + #list[#list].args
  end
  for i, v in ipairs(given) do
    local where = child(path, i)
    check.table(v, where, "{ entry = \"rows\", grid = \"n\", block = 256 }")
    if v.launches == nil then
      add(v, where, read_rounds(v, where, i))
    else
      check.fields(v, where, GROUP_FIELDS)
      local rounds, inner = read_rounds(v, where, i), child(where, "launches")
      if rounds.times == nil then fail(where, " is a group of launches without times; say how often it runs, for "
        .. "example times = \"steps\"") end
      check.table(v.launches, inner, "launches = { { args = { \"a\", \"b\" } }, { args = { \"b\", \"a\" } } }")
      check.list(v.launches, inner, MOST_LAUNCHES)
      if #v.launches == 0 then fail(inner, " is empty") end
      for k, one in ipairs(v.launches) do
        local path_of_one = child(inner, k)
        check.table(one, path_of_one, "{ entry = \"rows\", grid = \"n\", block = 256 }")
        for _, field in ipairs { "times", "launches" } do
          if one[field] ~= nil then fail(child(path_of_one, field), " must not be a group: a group of launches "
            .. "cannot contain another group") end
        end
        add(one, path_of_one, rounds)
      end
    end
  end
  if #list > MOST_LAUNCHES then fail(path, " has %d launches; at most %d are allowed", #list, MOST_LAUNCHES) end
  if arguments > MOST_ARGUMENTS then
    fail(path, " has %d arguments in all launches together; at most %d are allowed", arguments, MOST_ARGUMENTS)
  end
  return list
end

local KERNEL_FIELDS = { "template", "source", "entry", "args", "shared", "options", "include", "constants" }

-- the source of a pattern whose transfer needs no kernel
local NO_KERNEL = "no_kernel.cu.tmpl"

function kernel.read_kernel(description, buffers, runs)
  local path = { "kernel" }
  if description.transfer ~= nil and description.kernel == nil then
    for _, field in ipairs { "launch", "launches" } do
      if description[field] ~= nil then fail({ field }, "there is no kernel to launch: write kernel = { ... }") end
    end
    return { template = NO_KERNEL, template_line = line_of { "transfer" }, launches = {},
             constants = {}, options = {}, includes = {} }
  end
  local given = check.table(description.kernel, path,
                           "kernel = { template = \"NAME.cu.tmpl\", entry = \"NAME\", args = {...} }")
  local defines = given[kernel.DEFINES]
  given[kernel.DEFINES] = nil
  check.fields(given, path, KERNEL_FIELDS)
  local common = {
    entry = given.entry or description.name, entry_path = child(path, "entry"),
    args = given.args, args_path = child(path, "args"),
    shared = given.shared, shared_path = child(path, "shared"),
  }
  local launch, launches = description.launch, nil
  if description.launches ~= nil then
    if launch ~= nil then
      fail({ "launches" }, " must not stand beside launch; move the launch into the list of launches")
    end
    launches = read_launches(description.launches, { "launches" }, common, buffers)
  else
    if launch == nil and not runs then launch = { grid = 1, block = 256 } end
    check.table(launch, { "launch" }, "launch = { grid = \"ceil_div(n, block)\", block = \"block\" }")
    check.fields(launch, { "launch" }, LAUNCH_FIELDS)
    launches = { read_launch(launch, { "launch" }, common, buffers, read_rounds(launch, { "launch" }, 1)) }
  end
  for _, one in ipairs(description.transfer ~= nil and launches or {}) do
    for i, argument in ipairs(one.args) do
      if argument.type == "tensor" or argument.type == "texture" or argument.type == "surface" then
        fail({ "kernel", "args", i }, "at.%s is not possible in a pattern with a transfer; pass the buffer itself",
             argument.type)
      end
    end
  end
  return {
    template = given.source or check.string(given.template, { "kernel", "template" }, "template = \"NAME.cu.tmpl\""),
    template_line = line_of { "kernel", "template" },
    is_file = given.source ~= nil,
    defines = defines or {},
    launches = launches,
    constants = read_constants(given.constants, { "kernel", "constants" }, buffers, launches),
    options = read_options(given.options, { "kernel", "options" }),
    includes = check.includes(given.include, { "kernel", "include" }),
  }
end

local REFERENCE_FIELDS = {
  "template", "entry", "args", "grid", "block", "shared", "cluster", "balanced", "cooperative", "times",
  "launches", "options", "include", "constants",
}

-- Reads a kernel that makes expected results (at.reference) or fills inputs (at.kernel). Messages call it `what`. If
-- it has no grid and block, it gets one thread for each element of the buffer `first`.
local function read_fixed(description, path, entry, first, buffers)
  local given = description[path[1]]
  check.fields(given, path, REFERENCE_FIELDS)
  local common = {
    entry = given.entry or entry, entry_path = child(path, "entry"),
    args = given.args, args_path = child(path, "args"),
    shared = given.shared, shared_path = child(path, "shared"),
  }
  if common.args == nil then
    common.args, common.args_path = (description.kernel or {}).args, { "kernel", "args" }
  end
  local launches
  if given.launches ~= nil then
    launches = read_launches(given.launches, child(path, "launches"), common, buffers)
  else
    local grid = given.grid
    if grid == nil then
      if given.block ~= nil then fail(path, " has a block but no grid; give both") end
      if not first then fail(path, " has no grid, and no output to derive the grid from; give grid and block") end
      grid = "ceil_div(" .. first.count.text .. ", 256)"
    end
    launches = { read_launch({ grid = grid, block = given.block or 256, cluster = given.cluster,
                               balanced = given.balanced, cooperative = given.cooperative }, path, common, buffers,
                             read_rounds(given, path, 1)) }
  end
  return {
    template = check.string(given.template, child(path, "template"), "template = \"NAME.cu.tmpl\""),
    template_line = line_of(child(path, "template")),
    launches = launches,
    constants = read_constants(given.constants, child(path, "constants"), buffers, launches),
    options = read_options(given.options, child(path, "options")),
    includes = check.includes(given.include, child(path, "include")),
  }
end

-- Reads reference = at.file "y.npy", or { y = at.file "y.npy", z = at.file "z.npy" }: files with expected results.
local function read_expected(given, buffers)
  local path, results = { "reference" }, {}
  for _, b in ipairs(buffers) do
    if b.role == "output" or b.role == "inout" then results[#results + 1] = b end
  end
  if is_file(given) then
    if #results ~= 1 then
      fail(path, " is one file, but %d buffers have results: write reference = { NAME = at.file(...), ... }",
           #results)
    end
    given = { [results[1].name] = given }
  end
  local names = {}
  for i, b in ipairs(results) do
    names[i] = b.name
    if given[b.name] == nil then fail(path, " has no file for %s, which the kernel also writes", b.name) end
  end
  for name, file in pairs(given) do
    local found
    for _, b in ipairs(results) do found = found or b.name == name and b end
    if not found then fail(child(path, name), "there is no buffer of results with this name%s", meant(tostring(name), names)) end
    if not is_file(file) then fail(child(path, name), " is %s; write at.file(\"y.npy\")", show(file)) end
    if file.head then
      fail(child(path, name), " must not have head = true: the first results of a larger problem are not those of a "
        .. "smaller one")
    end
    found.expected = file.number
  end
end

-- Tells whether the expected results are in files: `given` is a file, or a table of files.
local function are_files(given)
  if type(given) ~= "table" or is_file(given) then return is_file(given) end
  local any = false
  for _, v in pairs(given) do any = any or is_file(v) end
  return any
end

--- Returns false for oracle = false: then kernels are checked for faults, but their results are not compared.
function kernel.has_oracle(description)
  if description.oracle == nil then return true end
  if description.oracle ~= false then
    fail({ "oracle" }, " is %s; the only possible value is false, which means that results are not compared",
         show(description.oracle))
  end
  for _, field in ipairs { "reference", "transfer" } do
    if description[field] ~= nil then fail({ "oracle" }, " is false, but there is a %s; remove one of the two", field) end
  end
  return false
end

--- Tells whether the expected results are known: from a reference, or from the baseline.
function kernel.is_measurable(description, buffers)
  if description.reference ~= nil and not are_files(description.reference) then return #buffers > 0 end
  local has_results = false
  for _, b in ipairs(buffers) do has_results = has_results or b.role == "output" or b.role == "inout" end
  return has_results and description.transfer == nil
end

local function take_kind(description, field, kind)
  local given = description[field]
  if given == nil then return false end
  if type(given) ~= "table" or given[KIND] ~= kind then
    fail({ field }, " is %s; write at.%s { template = \"NAME.cu.tmpl\" }", show(given), kind)
  end
  given[KIND] = nil
  return true
end

-- Reads the reference. If it has no grid and block, it gets one thread for each element of the first output.
function kernel.read_reference(description, buffers)
  if are_files(description.reference) then
    read_expected(description.reference, buffers)
    return nil
  end
  if not take_kind(description, "reference", "reference") then return nil end
  local first
  for _, b in ipairs(buffers) do
    if not first and (b.role == "output" or b.role == "inout") then first = b end
  end
  return read_fixed(description, { "reference" }, "reference", first, buffers)
end

-- Reads the kernel that fills inputs. If it has no grid and block, it gets one thread for each element of the first
-- input.
function kernel.read_prepare(description, buffers)
  if not take_kind(description, "prepare", "kernel") then return nil end
  local first
  for _, b in ipairs(buffers) do
    if not first and (b.role == "input" or b.role == "inout") then first = b end
  end
  return read_fixed(description, { "prepare" }, "prepare", first, buffers)
end

return kernel
