-- The module of pattern scripts: `local at = require "autotune"`. docs/scripts.md has every field.
--
-- at.pattern{...} checks the description, notes the script's line of each name and expression, and gives the program
-- one plain table. Each error names the script's line.

local host = ...

local check = host.own "check.lua"
local space = host.own "space.lua"
local problem = host.own "problem.lua"
local kernel = host.own "kernel.lua"
local tolerance = host.own "tolerance.lua"
local work = host.own "work.lua"
local read_transfer = host.own "host_memory.lua"
local fail, show, KIND = check.fail, check.show, check.KIND

local at = {}

for _, name in ipairs { "pow2", "range", "list", "when" } do at[name] = space[name] end
for _, name in ipairs { "relative", "absolute", "ulps", "mismatches" } do at[name] = tolerance[name] end

-- ---- buffers, arguments, references ----

local function constructor(kind)
  return function(fields)
    if type(fields) ~= "table" then
      error("at." .. kind .. " takes a table: at." .. kind .. " { ... }", 2)
    end
    local made = { [KIND] = kind }
    for key, v in pairs(fields) do made[key] = v end
    return made
  end
end

at.input = constructor "input"
at.output = constructor "output"
at.inout = constructor "inout"
at.scratch = constructor "scratch"
at.reference = constructor "reference"
at.kernel = constructor "kernel"
at.tensor = constructor "tensor"
at.texture = constructor "texture"
at.surface = constructor "surface"

for _, kind in ipairs(kernel.ARGUMENTS) do
  at[kind] = function(v)
    return { [KIND] = "argument", type = kind, value = v }
  end
end

--- Makes an argument that is a small struct, laid out as in C: at.struct { at.float "x", at.int32 "n" }. For a member
--- that is a buffer's name, the struct has the buffer's address.
function at.struct(members)
  if type(members) ~= "table" then
    error("at.struct takes a list: at.struct { at.float(...), at.int32(...) }", 2)
  end
  return { [KIND] = "struct", members = members }
end

--- Makes a fill that repeats the values of the list.
function at.values(list)
  if type(list) ~= "table" then error("at.values takes a list: at.values { 1, 2, 1 }", 2) end
  return { [KIND] = "fill", values = list }
end

--- Makes a fill that gives all elements this value.
function at.constant(v)
  return { [KIND] = "fill", values = { v } }
end

--- Names a file below the script's folder: a NumPy array, or elements of the type options.dtype. The file fills a
--- buffer (fill = at.file "x.npy") or has the expected results (reference = at.file "y.npy"). The problem may use the
--- result's fields count, shape and dtype. With options.head a smaller buffer gets the file's first elements.
function at.file(name, options)
  if type(name) ~= "string" then error("at.file takes a name: at.file(\"input.npy\")", 2) end
  if options ~= nil and type(options) ~= "table" then
    error("at.file takes options in a table: at.file(\"x.bin\", { dtype = \"float\" })", 2)
  end
  for key in pairs(options or {}) do
    if key ~= "dtype" and key ~= "head" then
      error("at.file has no option " .. tostring(key) .. check.meant(tostring(key), { "dtype", "head" }), 2)
    end
  end
  local file, why = host.file(name, options and options.dtype)
  if not file then error("at.file: " .. why, 2) end
  file[KIND], file.head = "file", options ~= nil and options.head == true
  return file
end

--- Makes a question in place of a value that the user must give. A pattern with a question is refused.
function at.ask(question)
  if type(question) ~= "string" then error("at.ask takes the question: at.ask \"how many elements\"", 2) end
  return { [KIND] = "question", question = question }
end

-- Appends the questions in table `t`, with their paths, to `list`. Looks at most 9 levels deep. Skips lists of plain values.
local function add_questions(t, path, list)
  for _, key in ipairs(check.ordered_keys(t, path)) do
    local v, inner = t[key], check.child(path, key)
    if type(v) == "table" and v[KIND] == "question" then
      list[#list + 1] = { path = inner, question = v.question }
    elseif type(v) == "table" and #path < 8 and (v[1] == nil or type(v[1]) == "table") then
      add_questions(v, inner, list)
    end
  end
  return list
end

local function refuse_questions(description)
  local list, lines = add_questions(description, {}, {}), {}
  if #list == 0 then return end
  for i, one in ipairs(list) do lines[i] = "  " .. check.path_text(one.path) .. ": " .. one.question end
  fail(list[1].path, "%d question%s open; write a value in the place of each at.ask:\n%s", #list, #list == 1 and " is" or "s are", table.concat(lines, "\n"))
end

-- If a script uses an unknown at.NAME, the error names the function with the most similar name.
host.missing(at, function(_, name)
  error("there is no at." .. tostring(name) .. check.meant(tostring(name), check.sorted_keys(at)), 2)
end)

local PATTERN_FIELDS = {
  "name", "summary", "problem", "ragged", "simulated", "space", "derived", "choose_by", "where",
  "baseline", "starts", "layout", "buffers", "prepare", "transfer", "kernel", "launch", "launches", "traffic", "flops",
  "items", "ceiling", "reference", "oracle", "tolerance", "deterministic", "sizes", "outputs",
}

--- Makes a variable of the problem that may have one of these values; the first is the default.
function at.one_of(values)
  if type(values) ~= "table" then error("at.one_of takes a list: at.one_of { \"float\", \"half\" }", 2) end
  return { [KIND] = "one_of", values = values }
end

--- Makes a variable of the problem that may be a number from `least` to `most`.
function at.within(default, least, most)
  if type(default) ~= "number" or type(least) ~= "number" or type(most) ~= "number" then
    error("at.within takes three numbers: at.within(8192, 1, 1 << 30)", 2)
  end
  if default < least or default > most then
    error("at.within: " .. default .. " is not between " .. least .. " and " .. most, 2)
  end
  return { [KIND] = "within", default = default, least = least, most = most }
end

--- Checks and describes the pattern. The script must return the result of this function.
function at.pattern(description)
  if type(description) ~= "table" then error("at.pattern takes a table: at.pattern { ... }", 2) end
  check.fields(description, {}, PATTERN_FIELDS)
  refuse_questions(description)
  local is_file = type(description.kernel) == "table" and description.kernel.source ~= nil
  if is_file or description.sizes ~= nil or description.outputs ~= nil or host.captured() then
    host.own("kernel_file.lua").complete(description)
  end
  local name = check.string(description.name, { "name" }, "name = \"transpose\"")
  if #name > 60 or not string.find(name, "^[%a_][%w_]*$") then
    fail({ "name" }, "%s is not a valid name of a pattern: use at most 60 letters, digits and _, and no digit first",
         show(name))
  end
  local taken = {}
  local p = { name = name }
  p.summary = description.summary == nil and ""
    or check.string(description.summary, { "summary" }, "a line of text")
  p.problem, p.ragged_count, p.has_simulated = problem.read(description, taken)
  p.parameters, p.conditions = space.read_space(description, taken)
  p.derived = space.read_derived(description, taken)
  p.features = space.read_features(description, taken)
  p.constraints = space.read_where(description)
  p.baseline = space.read_baseline(description, p.parameters)
  p.has_small = p.has_simulated
  if not p.has_simulated and not is_file and not host.captured() and type(description.buffers) == "table" then
    local baseline = {}
    for i, parameter in ipairs(p.parameters) do baseline[parameter.name] = parameter.values[p.baseline[i]] end
    local smaller = host.own("stand_ins.lua").smaller(description, baseline)
    for _, variable in ipairs(p.problem) do
      if smaller[variable.name] ~= nil then variable.small, p.has_small = smaller[variable.name], true end
    end
  end
  p.starts = space.read_starts(description, p.parameters, p.baseline)
  p.layout, p.layout_line = space.read_layout(description, p.parameters)
  p.buffers = kernel.read_buffers(description, taken)
  kernel.check_types(description, p)
  p.has_oracle = kernel.has_oracle(description)
  p.measurable = p.has_oracle and kernel.is_measurable(description, p.buffers)
  p.transfer = read_transfer(description, p.buffers, taken)
  p.kernel = kernel.read_kernel(description, p.buffers, p.measurable or not p.has_oracle)
  p.reference = kernel.read_reference(description, p.buffers)
  p.has_reference = p.reference ~= nil
  p.prepare = kernel.read_prepare(description, p.buffers)
  work.read(description, p, taken)
  p.tolerance = tolerance.read(description.tolerance or 0, { "tolerance" })
  p.deterministic = description.deterministic
  if p.deterministic ~= nil and type(p.deterministic) ~= "boolean" then
    fail({ "deterministic" }, " is %s; write true or false", show(p.deterministic))
  end
  return host.declare(p)
end

return at
