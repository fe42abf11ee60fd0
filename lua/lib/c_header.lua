-- Writes the longer pieces of an exported header. `p` is a pattern in the table of docs/development/record_table.md.

local c = require "lib.c_text"

local text = {}

function text.example(p)
  for _, row in ipairs(p.rows) do
    if row.entry then return c.values(p, p.variables, row.entry.problem, 0) end
  end
  return "{...}"
end

local ALWAYS_READ = { name = true, major = true, minor = true }

-- Returns text for the exported header's first comment: the fields of autotune_device that its functions read.
function text.fields_read(p, device_fields)
  if #p.constraints == 0 then
    return " name, major and\n * minor are read (no constraint is known, so none is checked)"
  end
  local out = "\n * these are read: name major minor"
  for _, field in ipairs(device_fields) do
    local read = false
    for _, list in ipairs { p.constraints, p.derived } do
      for _, e in ipairs(list) do
        read = read or (e.c and string.find(e.c .. " ", "device%->" .. field.name .. "[^a-z_]"))
      end
    end
    if read and not ALWAYS_READ[field.name] then out = out .. "\n * " .. field.name end
  end
  return out
end

-- Returns the C initialiser of one table entry: of `row`, or of the default configuration if `row` is nil.
function text.entry(p, row)
  local record, e = row and row.record, row and row.entry
  local head = {
    c.literal(record and record.gpu or ""), record and record.major or 0, record and record.minor or 0,
    row and row.portfolio_number or -1, row and row.place or 0,
  }
  return table.concat(head, ", ") .. ",\n            "
    .. c.values(p, p.variables, e and e.problem, 12) .. ",\n            "
    .. c.values(p, p.parameters, row and row.configuration or p.default, 12) .. ",\n            "
    .. c.long(e and e.time_ns or 0)
end

function text.is_size(column)
  return column.c_type == "int" or column.c_type == "int64_t" or column.c_type == "double"
end

function text.all(columns, format)
  local out = {}
  for i, column in ipairs(columns) do out[i] = string.format(format, column.identifier, column.identifier) end
  return table.concat(out, " &&\n           ")
end

-- Returns the type as C writes it before a name: with a blank at the end, except after a star.
function text.spaced(c_type)
  return string.sub(c_type, -1) == "*" and c_type or c_type .. " "
end

-- Returns whether the C text of any constraint contains `part`.
function text.any(p, part)
  for _, constraint in ipairs(p.constraints) do
    if constraint.c and string.find(constraint.c, part, 1, true) then return true end
  end
  return false
end

-- Returns whether there is a constraint that C cannot express.
function text.has_constraint_without_c(p)
  for _, constraint in ipairs(p.constraints) do
    if not constraint.c then return true end
  end
  return false
end

-- Returns the C declaration of derived values that are not computed yet.
function text.empty_derived(p)
  local out = {}
  for i, d in ipairs(p.derived) do out[i] = "false, " .. (d.c_type == "bool" and "false" or "0") end
  return "autotune_" .. p.name .. "_derived values = {" .. table.concat(out, ", ") .. "}, *derived = &values;"
end

local function variable(p, name)
  for _, column in ipairs(p.variables) do
    if column.name == name then return column end
  end
end

function text.serves(p, portfolio, number)
  local out = { "portfolio == " .. number }
  for i, name in ipairs(names(portfolio.fixed)) do
    local column = variable(p, name)
    out[i + 1] = "problem->" .. column.identifier .. " == " .. c.value(p, column, portfolio.fixed[name])
  end
  return table.concat(out, " &&\n        ")
end

-- Returns whether the tree of a portfolio reads the feature.
function text.asks(p, feature)
  for _, portfolio in ipairs(p.portfolios) do
    for _, node in ipairs(portfolio.tree) do
      if node.feature == feature.name then return true end
    end
  end
  return false
end

-- Returns whether C can express all conditions of the portfolio's tree.
function text.can_be_asked(p, portfolio)
  for _, node in ipairs(portfolio.tree) do
    for _, feature in ipairs(p.features) do
      if node.feature == feature.name and not feature.c then return false end
    end
  end
  return true
end

local function row_of(p, number, place)
  for i, row in ipairs(p.rows) do
    if row.portfolio_number == number and row.place == place then return i - 1 end
  end
end

-- Returns the condition of a node of the portfolio's tree. If the types of feature and bound differ, the condition is
-- never true, as in record/pick.c.
function text.question(p, node, number)
  if node.feature then
    return string.format("autotune_%s_feature_%s(device, problem, autotune_%s_at(%d).config) < (double)%.17g", p.name,
                         node.feature, p.name, row_of(p, number, node.of), node.below)
  end
  local column = variable(p, node.variable)
  local times = node.times and variable(p, node.times) or column
  local problem = "problem->" .. column.identifier
  if node.multiple_of then
    if column.c_type ~= "int" and column.c_type ~= "int64_t" then return "false" end
    return problem .. " % " .. c.long(node.multiple_of) .. " == 0"
  end
  if node.below == nil then return problem .. " == " .. c.value(p, column, node.is) end
  if not (text.is_size(column) and text.is_size(times)) then return "false" end
  return "(double)" .. problem .. (node.times and " * (double)problem->" .. times.identifier or "")
    .. " < (double)" .. string.format("%.17g", node.below)
end

function text.order(node)
  local out = "index < 0 ? " .. (node.default_at or -1)
  for i = 1, #node.order - 1 do out = out .. " : index == " .. node.order[i] .. " ? " .. i - 1 end
  return out .. " : " .. #node.order - 1
end

function text.entries(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = "entry == " .. row - 1 end
  return table.concat(out, " || ")
end

local function device_condition(field, v)
  local device = "device->" .. field.name
  if field.kind == "text" then return "autotune_same_text(" .. device .. ", " .. c.literal(v) .. ")" end
  if field.kind == "size" then return device .. " == INT64_C(" .. v .. ")" end
  if field.kind == "double" then return device .. " == " .. string.format("%.17g", v) end
  return device .. " == " .. v
end

-- Returns the condition under which a configuration uses the kernels of `use`.
function text.conditions(p, use, device_fields)
  local out = {}
  for i, column in ipairs(p.parameters) do
    out[i] = "config->" .. column.identifier .. " == " .. c.value(p, column, use.configuration[column.name])
  end
  for _, condition in ipairs(use.conditions) do
    local column = not condition.of_device and p.variables[condition.number]
    out[#out + 1] = column and "problem->" .. column.identifier .. " == " .. c.value(p, column, condition.value)
      or device_condition(device_fields[condition.number], condition.value)
  end
  return #out > 0 and table.concat(out, " &&\n        ") or "true"
end

-- Returns the C initialiser of the device that autotune_device_named() returns. The function's arguments give the name
-- and the compute capability. The other fields are the limits of `capability`, or 0 if `capability` is nil.
function text.device_values(device_fields, capability, start)
  local out = {}
  for i, field in ipairs(device_fields) do
    local limit = capability and capability[field.name] or 0
    out[i] = ALWAYS_READ[field.name] and field.name
      or field.kind == "double" and c.number(limit + 0.0) or c.long(limit)
  end
  return c.braced(out, start)
end

-- Returns what the results of pattern `p` were compared with, or nil if they were compared with a reference.
function text.agreeing(p)
  local with = { baseline = "those of the pattern's default", file = "those kept in files" }
  for _, row in ipairs(p.rows) do
    if row.entry and with[row.entry.oracle] then return with[row.entry.oracle] end
  end
  return nil
end

return text
