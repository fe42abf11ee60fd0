-- Selects the rows for each compute capability, for templates that do not choose by the name of the GPU.

local c = require "lib.c_text"

local choices = {}

-- Returns whether the values of a column are sizes. The values of other columns are names.
function choices.is_size(column)
  return column.c_type == "int" or column.c_type == "int64_t" or column.c_type == "double"
end

--- split(columns): the columns with sizes, and the other columns.
function choices.split(columns)
  local sizes, others = {}, {}
  for _, column in ipairs(columns) do
    table.insert(choices.is_size(column) and sizes or others, column)
  end
  return sizes, others
end

function choices.capability(row)
  return 10 * row.record.major + row.record.minor
end

local function key_of(row, columns)
  local parts = { choices.capability(row) }
  for i, column in ipairs(columns) do parts[i + 1] = c.spelled(row.entry.problem[column.name]) end
  return table.concat(parts, "\0")
end

local function extent(row, sizes)
  local product = 1.0
  for _, column in ipairs(sizes) do product = product * (1 + math.abs(row.entry.problem[column.name])) end
  return product
end

-- Returns, for each capability and each combination of values in `columns`, the row that `better` prefers. Rows of the
-- newest GPUs come first.
local function best_of(p, columns, better)
  local best, keys = {}, {}
  for place, row in ipairs(p.rows) do
    if row.first then
      local key = key_of(row, columns)
      if not best[key] then table.insert(keys, key) end
      if not best[key] or better(row, best[key].row) then
        best[key] = { row = row, place = best[key] and best[key].place or place }
      end
    end
  end
  local out = {}
  for i, key in ipairs(keys) do out[i] = best[key] end
  table.sort(out, function(a, b)
    local x, y = choices.capability(a.row), choices.capability(b.row)
    if x ~= y then return x > y end
    return a.place < b.place
  end)
  for i, found in ipairs(out) do out[i] = found.row end
  return out
end

--- by_capability(p): the row of the largest problem for each compute capability and each combination of values that are
--- not sizes.
function choices.by_capability(p)
  local sizes, others = choices.split(p.variables)
  return best_of(p, others, function(a, b) return extent(a, sizes) > extent(b, sizes) end)
end

--- by_problem(p): the first row of each compute capability and problem.
function choices.by_problem(p)
  return best_of(p, p.variables, function() return false end)
end

return choices
