-- Buffers, and the kernels that work on them: templates, launches, arguments.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local line_of, ordered_keys, KIND = check.line_of, check.ordered_keys, check.KIND
local expression, optional, expressions = check.expression, check.optional, check.expressions

local kernel = {}

local ROLES = { input = true, output = true, inout = true, scratch = true }
kernel.ARGUMENTS = { "int32", "uint32", "int64", "uint64", "float", "double", "bool" }

local BUFFER_FIELDS = { "dtype", "count", "fill", "limit", "shape" }
local FILLS = { "uniform", "bits", "index", "modulo" }

-- A word that names itself ("float", "modulo") unless the problem has a variable of that name.
local function word(v, path, words, taken)
  local e = expression(v, path)
  if type(v) == "string" and not taken[v] then
    for _, w in ipairs(words) do
      if w == v then e.text = string.format("%q", v) end
    end
    if #v < 100 and string.find(v, "^[%a_][%w_]*$") and e.text == v then
      fail(path, "'%s' is none of %s%s", v, table.concat(words, ", "), meant(v, words))
    end
  end
  return e
end

function kernel.read_buffers(description, taken)
  local path = { "buffers" }
  local given = description.buffers
  if given == nil then return {} end
  check.table(given, path, "buffers = { src = at.input { dtype = \"float\", count = \"rows\" } }")
  local list = {}
  for i, name in ipairs(ordered_keys(given, path)) do
    local where = child(path, name)
    check.name(name, where, taken)
    taken[name] = "buffer"
    local b = given[name]
    if type(b) ~= "table" or not ROLES[b[KIND]] then
      fail(where, "is %s; write at.input, at.output, at.inout or at.scratch { ... }", show(b))
    end
    local role = b[KIND]
    b[KIND] = nil
    check.fields(b, where, BUFFER_FIELDS)
    if b.fill ~= nil and role ~= "input" and role ~= "inout" then
      fail(child(where, "fill"), "only inputs are filled, and this is at.%s", role)
    end
    list[i] = {
      name = name,
      role = role,
      line = line_of(where),
      dtype = word(b.dtype, child(where, "dtype"), host.dtypes(), taken),
      count = expression(b.count, child(where, "count")),
      fill = b.fill ~= nil and word(b.fill, child(where, "fill"), FILLS, taken) or nil,
      limit = optional(b.limit, child(where, "limit")),
      shape = b.shape ~= nil and expressions(b.shape, child(where, "shape"), 4) or {},
    }
  end
  if #list > 16 then fail(path, "has %d buffers; 16 are allowed", #list) end
  return list
end

local function read_arguments(given, path, buffers)
  check.table(given, path, "args = { \"src\", \"dst\", \"rows\" }")
  check.list(given, path, 32)
  local list = {}
  for key, v in ipairs(given) do
    local where = child(path, key)
    local argument
    for i, buffer in ipairs(buffers) do
      if v == buffer.name then argument = { type = "buffer", buffer = i } end
    end
    if type(v) == "table" and v[KIND] == "argument" then
      argument = { type = v.type, value = expression(v.value, where) }
    end
    list[key] = argument or { type = "plain", value = expression(v, where) }
  end
  return list
end

-- "--maxrregcount=${cap}" -> the expression "--maxrregcount=" .. (cap)
local function option_expression(v, path)
  check.string(v, path, "an NVRTC option, for example \"--use_fast_math\"")
  local e = expression(v, path)
  local pieces, at_byte = {}, 1
  while true do
    local open = string.find(v, "${", at_byte, true)
    local literal = string.sub(v, at_byte, open and open - 1)
    if literal ~= "" then pieces[#pieces + 1] = string.format("%q", literal) end
    if not open then break end
    local close = string.find(v, "}", open, true)
    if not close then fail(path, "there is a ${ without a }") end
    pieces[#pieces + 1] = "tostring(" .. string.sub(v, open + 2, close - 1) .. ")"
    at_byte = close + 1
  end
  e.text = table.concat(pieces, " .. ")
  return e
end

local function read_options(given, path)
  local list = {}
  if given == nil then return list end
  if type(given) == "string" then given = { given } end
  check.table(given, path, "options = { \"--use_fast_math\" }")
  check.list(given, path, 16)
  for i, v in ipairs(given) do list[i] = option_expression(v, child(path, i)) end
  return list
end

local function read_entry(v, path)
  check.string(v, path, "the name of the extern \"C\" kernel")
  if #v > 63 or not string.find(v, "^[%a_][%w_]*$") then
    fail(path, "%s is not the name of a kernel: letters, digits and _, at most 63", show(v))
  end
  return v
end

local KERNEL_FIELDS = { "template", "entry", "args", "shared", "options" }

function kernel.read_kernel(description, buffers, measurable)
  local path = { "kernel" }
  local given = check.table(description.kernel, path,
                           "kernel = { template = \"NAME.cu.tmpl\", entry = \"NAME\", args = {...} }")
  check.fields(given, path, KERNEL_FIELDS)
  local launch = description.launch
  if launch == nil and not measurable then launch = { grid = 1, block = 256 } end
  check.table(launch, { "launch" }, "launch = { grid = \"ceil_div(n, block)\", block = \"block\" }")
  check.fields(launch, { "launch" }, { "grid", "block" })
  return {
    template = check.string(given.template, { "kernel", "template" }, "template = \"NAME.cu.tmpl\""),
    template_line = line_of { "kernel", "template" },
    entry = read_entry(given.entry or description.name, { "kernel", "entry" }),
    args = read_arguments(given.args or {}, { "kernel", "args" }, buffers),
    shared = optional(given.shared, { "kernel", "shared" }),
    options = read_options(given.options, { "kernel", "options" }),
    grid = expressions(launch.grid, { "launch", "grid" }, 3),
    block = expressions(launch.block, { "launch", "block" }, 3),
  }
end

local REFERENCE_FIELDS = { "template", "entry", "args", "grid", "block", "shared", "options" }

-- A reference has one thread for each element of the first output unless it says otherwise.
function kernel.read_reference(description, buffers)
  local path = { "reference" }
  local given = description.reference
  if given == nil then return nil end
  if type(given) ~= "table" or given[KIND] ~= "reference" then
    fail(path, "is %s; write at.reference { template = \"NAME.cu.tmpl\" }", show(given))
  end
  given[KIND] = nil
  check.fields(given, path, REFERENCE_FIELDS)
  local grid = given.grid
  if grid == nil then
    if given.block ~= nil then fail(path, "has a block but no grid") end
    for _, b in ipairs(buffers) do
      if not grid and (b.role == "output" or b.role == "inout") then
        grid = "ceil_div(" .. b.count.text .. ", 256)"
      end
    end
    if not grid then fail(path, "has no grid, and there is no output to derive it from") end
  end
  return {
    template = check.string(given.template, child(path, "template"), "template = \"NAME.cu.tmpl\""),
    template_line = line_of(child(path, "template")),
    entry = read_entry(given.entry or "reference", child(path, "entry")),
    args = read_arguments(given.args or description.kernel.args or {}, child(path, "args"), buffers),
    shared = optional(given.shared, child(path, "shared")),
    options = read_options(given.options, child(path, "options")),
    grid = expressions(grid, child(path, "grid"), 3),
    block = expressions(given.block or 256, child(path, "block"), 3),
  }
end

return kernel
