-- autotune results validate: finds faults of a record that its readers in C do not notice.
--
-- given: root (the file's JSON), faults { { pointer, message }, ... } that the readers found, record (in the form of
-- lua/lib/entries.lua, or null if the file is not a record), path (of the file), slug (the GPU's folder). Returns all
-- faults.

local entries = require "lib.entries"
local text_of_path = require "lib.page" {}.path
local get, form = entries.get, string.format

local MOST_FAULTS, MOST_BYTES = 100, 511

-- Allowed relative differences: ROUNDING because recorded figures are rounded; PAIRING because a speed-up comes from
-- samples taken side by side, so the ratio of medians is only similar.
local ROUNDING, PAIRING = 2e-3, 5e-2

local ORDERS = { { "low_ns", "median_ns", "high_ns" }, { "min_ns", "q1_ns", "median_ns", "q3_ns" } }

local function number(of, name)
  local v = get(of, name)
  return math.type(v) and v + 0.0 or 0.0
end

local function is_finite(v) return v == v and v ~= math.huge and v ~= -math.huge end

local checks = {}

function checks:fault(pointer, ...)
  local said = string.sub(form(...), 1, MOST_BYTES)
  if #self < MOST_FAULTS then
    self[#self + 1] = { pointer = pointer, message = (pointer ~= "" and pointer or "the file") .. ": " .. said }
  end
end

-- Returns whether there is a fault at this pointer or below it.
function checks:is_noted(pointer)
  for i = 1, #self do
    local other = self[i].pointer
    if other == pointer or string.sub(other, 1, #pointer + 1) == pointer .. "/" then return true end
  end
  return false
end

function checks:order(time, pointer)
  for _, order in ipairs(ORDERS) do
    for i = 1, #order - 1 do
      local a, b = order[i], order[i + 1]
      if get(time, a) ~= nil and get(time, b) ~= nil and number(time, a) > number(time, b) then
        self:fault(pointer, "%s must not be above %s; measure the entry again", a, b)
      end
    end
  end
end

-- Notes a fault if the figure `name` differs from `expected`. A figure that is 0 is unknown and has no fault.
function checks:figure(of, name, expected, tolerance, pointer, from)
  local kept = number(of, name)
  if kept > 0 and expected > 0 and is_finite(expected) and math.abs(kept - expected) > tolerance * expected then
    self:fault(pointer .. "/" .. name, "the value is %g, but %s give %.5g: one of them was changed. Measure the "
      .. "entry again", kept, from, expected)
  end
end

-- Returns the largest allowed difference between the ratio of paired samples and the ratio of medians, according to the
-- intervals of both times.
local function pairing_tolerance(baseline, winner)
  local of_medians = number(baseline, "median_ns") / number(winner, "median_ns")
  local most = number(baseline, "high_ns") / number(winner, "low_ns") / of_medians - 1
  local least = 1 - number(baseline, "low_ns") / number(winner, "high_ns") / of_medians
  local off = most ~= most and least or least ~= least and most or math.max(most, least)
  return is_finite(off) and math.max(off, PAIRING) or PAIRING
end

function checks:figures(entry, pointer)
  local baseline, winner = get(get(entry, "baseline"), "time"), get(entry, "time")
  local median, bytes, ceiling = number(winner, "median_ns"), number(entry, "traffic_bytes"), number(entry, "ceiling_gbps")
  self:figure(entry, "gbps", bytes / median, ROUNDING, pointer, "traffic_bytes over the median")
  if ceiling > 0 then
    self:figure(entry, "ceiling_fraction", bytes / median / ceiling, ROUNDING, pointer, "its bandwidth over ceiling_gbps")
  end
  self:figure(entry, "speedup", number(baseline, "median_ns") / median, pairing_tolerance(baseline, winner), pointer,
              "the medians of baseline and winner")
end

-- Checks that the configuration `other` has exactly the parameters of the winner.
function checks:names(entry, other, pointer)
  local winner, known = get(entry, "configuration"), {}
  if type(other) ~= "table" or type(winner) ~= "table" then return end
  for _, name in ipairs(names(winner)) do known[name] = true end
  for _, name in ipairs(names(other)) do
    if not known[name] then
      self:fault(pointer, "the parameter '%s' is not in the winner's configuration; both must be of one space", string.sub(name, 1, 63))
      return
    end
  end
  if #names(other) ~= #names(winner) then
    self:fault(pointer, "parameters of the winner's configuration are missing here; both must be of one space")
  end
end

-- Checks that a clear winner is not slower than another configuration.
function checks:verdict(entry, contender, pointer)
  local low, high = number(get(entry, "time"), "low_ns"), number(get(contender, "time"), "high_ns")
  if get(entry, "verdict") == "clear" and low > high and high > 0 then
    self:fault(pointer, "this configuration is faster than the winner, although the verdict is \"clear\". Race both "
      .. "again by 'autotune verify'")
  end
end

-- Checks a part of the entry that has its own time and configuration, such as the baseline.
function checks:part(entry, part, pointer)
  if part ~= entry then self:names(entry, get(part, "configuration"), pointer .. "/configuration") end
  self:order(get(part, "time"), pointer .. "/time")
end

function checks:entry(entry, pointer)
  local contenders = get(entry, "contenders")
  self:figures(entry, pointer)
  self:part(entry, entry, pointer)
  self:part(entry, get(entry, "baseline"), pointer .. "/baseline")
  for i = 1, type(contenders) == "table" and #contenders or 0 do
    local place = form("%s/contenders/%d", pointer, i - 1)
    self:verdict(entry, contenders[i], place)
    self:part(entry, contenders[i], place)
  end
end

function checks:repeats(r)
  local first = {}
  entries.each(r, {}, function(e, place)
    local question = entries.question(e)
    local key = table.concat({ entries.key(e.problem), question[2][2], question[3][2], question[4][2] or "" }, "\n")
    if first[key] then
      self:fault("/entries/" .. place, "this entry has the same problem as /entries/%d, which is used: remove the "
        .. "older of the two",
                 first[key])
    end
    first[key] = first[key] or place
  end)
end

function checks:place(given)
  local r, path = given.record, text_of_path(given.path)
  local folder, file = string.match(path, "([^/]*)/([^/]*)$")
  local wanted = r.pattern .. ".json"
  if (file or path) ~= wanted then
    self:fault("/pattern", "a record of the pattern '%s' is not found under this file name: rename the file to %s", r.pattern, wanted)
  elseif folder and folder ~= "" and folder ~= given.slug and folder ~= "." then
    self:fault("/gpu", "records of the GPU '%s' belong into the folder %s, not %s: move the file", string.sub(r.gpu, 1, 80), given.slug,
               string.sub(folder, 1, 80))
  end
end

return function(given)
  local found, list = {}, get(given.root, "entries")
  for name, check in pairs(checks) do found[name] = check end
  for _, f in ipairs(given.faults) do found:fault(f.pointer, "%s", f.message) end
  if get(given, "record") then
    found:place(given)
    found:repeats(given.record)
  end
  for i = 1, type(list) == "table" and #list or 0 do
    local pointer = "/entries/" .. i - 1
    if not found:is_noted(pointer) then found:entry(list[i], pointer) end
  end
  local out = {}
  for i, f in ipairs(found) do out[i] = f end
  return out
end
