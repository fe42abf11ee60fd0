-- Reads entries of records (record/record.h) in the form that commands receive. A record is { file, gpu, pattern,
-- major, minor, content, entries, portfolios }: `content` is the file's JSON, and `entries` and `portfolios` have the
-- indices, from 0, of the valid ones in it.

local recorded = require "lib.recorded"
local get = recorded.get

local entries = { get = get }

local function text(object, name) return get(object, name) or "" end
local function number(object, name) return (get(object, name) or 0) + 0.0 end

function entries.rounded(v, digits) return tonumber(string.format("%." .. digits .. "g", v)) + 0.0 end

-- Returns what an entry was measured for, as { { name, value }, ... }: problem, cache, objective ...
function entries.question(e)
  local measured = get(e, "measured")
  local after = text(measured, "after")
  return { { "problem", e.problem }, { "cache", get(measured, "cache") == "warm" and "warm" or "cold" },
           { "objective", get(measured, "objective") == "energy" and "energy" or "time" }, { "after", after ~= "" and after or nil } }
end

-- Returns the figures of an entry; 0 or "" if they are not recorded.
function entries.figures(e)
  return { time_ns = e.time.median_ns, share = number(e, "ceiling_fraction"), speedup = number(e, "speedup"),
           ceiling = text(e, "ceiling"), date = text(e, "date"), tool = text(e, "tool") }
end

-- Returns whether the entry's problem has the values `wanted`, { { name, text }, ... }, of --set.
local function fits(e, wanted)
  for _, pair in ipairs(wanted) do
    local v = get(e.problem, pair[1])
    if v == nil or spell(v) ~= pair[2] then return false end
  end
  return true
end

-- Calls `each(entry, place)` for each entry of a record that matches `wanted`.
function entries.each(r, wanted, each)
  for _, place in ipairs(r.entries) do
    local e = r.content.entries[place + 1]
    if fits(e, wanted) then each(e, place) end
  end
end

-- Returns the valid portfolios of a record, each with its index; an empty list if `wanted` has variables.
function entries.portfolios(r, wanted)
  local out = {}
  for i, place in ipairs(#wanted == 0 and r.portfolios or {}) do out[i] = { r.content.portfolios[place + 1], place } end
  return out
end

-- Returns a text that is equal for objects with equal members, in any order.
function entries.key(values)
  local parts = {}
  for i, name in ipairs(names(values)) do parts[i] = name .. "=" .. recorded.key(values[name]) end
  table.sort(parts)
  return table.concat(parts, ",")
end

-- Returns whether two JSON values are equal, in any order of members.
function entries.same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return math.type(a) == math.type(b) and a == b end
  local a_names, b_names = names(a), names(b)
  if #a ~= #b or #a_names ~= #b_names then return false end
  for i = 1, #a do
    if not entries.same(a[i], b[i]) then return false end
  end
  for _, name in ipairs(a_names) do
    if not entries.same(get(a, name), get(b, name)) then return false end
  end
  return true
end

return entries
