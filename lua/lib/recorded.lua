-- Reads files of recorded measurements into one form: Kernel Tuner's caches, T4 results, runs' --json, records, wisdom,
-- journals.
--
--   local r = require "lib.recorded".read(source)
--
-- `source` comes from recorded_open() (history/recorded.h). `r` has
--
--   names        names of the parameters
--   results      { { values = { one value for each name }, outcome = "ok", cost = number }, ... }
--                in the file's order, each configuration once. The cost is in milliseconds, or in the unit of
--                `objective`. A result without a cost failed. A result may have compile_ms, check_ms, run_ms,
--                samples_ms, timestamp, low_ms and high_ms (95 % interval of the cost), rate (10^9 per second),
--                registers, spill_bytes, shared_bytes, occupancy.
--   kernel, device, objective, problem   texts; "" if unknown
--   order        "ranked" or "newest first"; nil means the order of measuring
--   work         { bytes =, flops =, items = } of a launch; 0 if unknown
--   ceiling, ceiling_rate, rate_unit, baseline_ms, baseline_rate, space_count   0 if unknown
--   is_predicted the times are predictions
--   is_record    the file is a record, which has only the best variants and the default
--   is_small     the times are of a smaller problem than the tuned problem; predictions chose the winner
--   landscape    the input of recorded.use_landscape(); only some records have it
--
-- A member that is missing or of the wrong type is an error that names the file and the result.

local MOST_PARAMETERS, MOST_PROBLEM_BYTES, MOST_UNIT_BYTES = 256, 511, 31

local recorded = {}

-- Returns a member of `object`; nil if `object` is not a table or lacks the member.
local function get(object, name)
  if type(object) == "table" and has(object, name) then return object[name] end
  return nil
end
recorded.get = get

local function bad(line, message, ...) refuse(string.format(message, ...), "format", line) end

local function text(object, name, otherwise)
  local found = get(object, name)
  return type(found) == "string" and found or otherwise
end

-- Returns a positive number as a float; 0 for other values.
local function positive(v) return math.type(v) and v > 0 and v + 0.0 or 0.0 end

local function is_object(v) return type(v) == "table" and #names(v) > 0 end
local function is_list(v) return type(v) == "table" and #names(v) == 0 end
local function is_value(v) return v ~= nil and type(v) ~= "table" end

local function names_of(configuration, missing)
  local found = type(configuration) == "table" and names(configuration) or {}
  if #found > MOST_PARAMETERS then bad(0, "the configurations have more than %d parameters, the most that are allowed", MOST_PARAMETERS) end
  if #found == 0 then bad(0, "%s", missing) end
  return found
end

local function values_of(r, configuration, which)
  local values = {}
  for p, name in ipairs(r.names) do
    values[p] = get(configuration, name)
    if not is_value(values[p]) then bad(0, "%s has no value for '%s'", which, name) end
  end
  return values
end

local function samples_of(list)
  local samples = {}
  for _, v in ipairs(is_list(list) and list or {}) do
    if positive(v) > 0 then samples[#samples + 1] = positive(v) end
  end
  return samples
end

local function sum(list)
  local total = 0.0
  for _, v in ipairs(list) do total = total + v end
  return total
end

-- Reads the problem and the work of a launch.
local function read_problem(r, from)
  local parts, problem = {}, get(from, "problem")
  r.work = { bytes = positive(get(from, "traffic_bytes")), flops = positive(get(from, "flops")), items = positive(get(from, "items")) }
  for _, name in ipairs(type(problem) == "table" and names(problem) or {}) do
    local v = get(problem, name)
    if is_value(v) then parts[#parts + 1] = name .. "=" .. spell(v) end
  end
  r.problem = string.sub(table.concat(parts, ", "), 1, MOST_PROBLEM_BYTES)
end

local function known_ceiling(name) return ceiling_of(name) and name or "copy" end

-- ---- Kernel Tuner's caches (Kernel Tuner's documentation, "Cache files") ----

local FAILURES = { InvalidConfig = "rejected", CompilationFailedConfig = "compile_error", RuntimeFailedConfig = "launch_error" }

local function read_kernel_tuner(r, root)
  local keys = get(root, "tune_params_keys")
  r.names = is_list(keys) and keys or {}
  if #r.names == 0 or #r.names > MOST_PARAMETERS then bad(0, "'tune_params_keys' must list 1 to %d parameters", MOST_PARAMETERS) end
  for _, name in ipairs(r.names) do
    if type(name) ~= "string" then bad(0, "'tune_params_keys' has an entry that is not a name") end
  end
  r.device, r.kernel = text(root, "device_name", ""), text(root, "kernel_name", "")
  r.objective = text(root, "objective", "time")
  for _, key in ipairs(names(root.cache)) do
    local entry = root.cache[key]
    local cost = get(entry, r.objective)
    local ok = positive(cost) > 0
    r.results[#r.results + 1] = {
      values = values_of(r, entry, "'" .. string.sub(key, 1, 60) .. "'"),
      outcome = ok and "ok" or type(cost) == "string" and FAILURES[cost] or "launch_error", cost = ok and positive(cost) or nil,
      compile_ms = positive(get(entry, "compile_time")), check_ms = positive(get(entry, "verification_time")),
      run_ms = positive(get(entry, "benchmark_time")), samples_ms = samples_of(get(entry, "times")),
      timestamp = text(entry, "timestamp"),
    }
  end
end

-- ---- T4 ("Open Autotuning Results Schema" 1.0.0, github.com/odgaard/TuningSchema) ----

local INVALIDITIES = { correct = "ok", constraints = "rejected", compile = "compile_error", runtime = "launch_error",
                       correctness = "wrong_result", timeout = "timeout" }

-- The length of each unit of time in milliseconds, by its name in lower case. Some published files have "miliseconds".
local UNITS_MS = {}
for ms, of in pairs { [1e3] = "s sec second seconds", [1.0] = "ms msec millisecond milliseconds miliseconds",
                      [1e-3] = "us usec microsecond microseconds \u{b5}s", [1e-6] = "ns nsec nanosecond nanoseconds" } do
  for name in string.gmatch(of, "%S+") do UNITS_MS[name] = ms end
end

local function unit_ms(name) return type(name) == "string" and UNITS_MS[string.lower(name)] or nil end

-- Returns the value of the result's objective, in ms if it is a time, and the length of its unit in ms.
local function t4_cost(from)
  local objective = get(from, "objectives")
  objective = is_list(objective) and type(objective[1]) == "string" and objective[1] or "time"
  local measurements = get(from, "measurements")
  for _, m in ipairs(is_list(measurements) and measurements or {}) do
    if get(m, "name") == objective then
      local ms = unit_ms(get(m, "unit"))
      return positive(get(m, "value")) * (ms or 1), ms
    end
  end
  return 0
end

local function read_t4(r, root)
  if #root.results == 0 then bad(0, "holds no results") end
  -- Times are in the file's unit or, without that, in the objective's unit or, without both, in milliseconds.
  local unit = get(get(root, "metadata"), "timeunit")
  if unit ~= nil and not unit_ms(unit) then
    bad(0, "metadata.timeunit is '%s'; it must be seconds, milliseconds, microseconds or nanoseconds", string.sub(tostring(unit), 1, 80))
  end
  r.names = names_of(get(root.results[1], "configuration"), "the first result has no 'configuration' with parameters")
  for i, from in ipairs(root.results) do
    local values = values_of(r, get(from, "configuration"), "result " .. i - 1)
    local outcome = INVALIDITIES[text(from, "invalidity", "")] or "launch_error"
    local cost, own_ms = t4_cost(from)
    local ms = unit_ms(unit) or own_ms or 1
    if outcome == "ok" and cost == 0 then bad(0, "result %d is correct, but its objective is not above 0", i - 1) end
    local times = get(from, "times")
    local samples = samples_of(get(times, "runtimes"))
    for k, v in ipairs(samples) do samples[k] = v * ms end
    local compiled = get(times, "compilation")
    if compiled == nil then compiled = get(times, "compilation_time") end
    r.results[i] = { values = values, outcome = outcome, cost = outcome == "ok" and cost or nil,
                     compile_ms = positive(compiled) * ms, check_ms = positive(get(times, "validation")) * ms, run_ms = sum(samples), samples_ms = samples,
                     timestamp = text(from, "timestamp") }
  end
end

-- ---- the output of 'autotune SCRIPT --json' (report/report.c) ----

local OUTCOMES = {}
for name in string.gmatch("rejected compile_error launch_error wrong_result crashed timeout not_simulated too_slow", "%S+") do
  OUTCOMES[name] = name
end

local function small_count(from, name) return math.min(positive(get(from, name)), 0xffffffff) // 1 | 0 end

local function read_run(r, root)
  local results, device, baseline = root.results, get(root, "device"), get(root, "baseline")
  local rate = text(root, "rate", "gbps")
  r.names = names_of(get(results[1], "config"), "the run has no results with a 'config'; it is what 'autotune SCRIPT --json --top "
                                                .. "1000000' prints")
  r.kernel, r.device, r.order = root.pattern, text(device, "name", ""), "ranked"
  r.is_predicted = text(device, "kind", "") == "sim"
  r.rate_unit = text(root, "rate_unit", "GB/s")
  -- The unit is checked because it becomes part of a program for gnuplot.
  if #r.rate_unit > MOST_UNIT_BYTES or not string.find(r.rate_unit, "^[a-zA-Z0-9_/]+$") then
    bad(0, "rate_unit must consist of letters, digits, _ and /")
  end
  r.ceiling_rate = positive(get(root, has(root, "ceiling_rate") and "ceiling_rate" or "ceiling_gbps"))
  r.ceiling = known_ceiling(text(root, "ceiling", ""))
  r.baseline_ms, r.baseline_rate = positive(get(baseline, "time_ns")) / 1e6, positive(get(baseline, rate))
  r.space_count = positive(get(get(root, "space"), "valid"))
  read_problem(r, root)
  for i, from in ipairs(results) do
    local values, time_ns = values_of(r, get(from, "config"), "a result"), positive(get(from, "time_ns"))
    -- A run that only compiled has no measurements.
    local ok, interval = get(from, "outcome") == "ok" and time_ns > 0, get(from, "ci_ns")
    local result = { values = values, outcome = ok and "ok" or OUTCOMES[text(from, "outcome", "")] or "launch_error",
                     occupancy = positive(get(from, "occupancy")) }
    if ok then
      interval = is_list(interval) and interval or {}
      result.cost, result.rate = time_ns / 1e6, positive(get(from, rate))
      result.low_ms, result.high_ms = positive(interval[1]) / 1e6, positive(interval[2]) / 1e6
    end
    r.is_small = r.is_small or positive(get(from, "tuned_ns")) > 0
    if math.type(get(from, "registers")) == "integer" then
      result.registers, result.spill_bytes = small_count(from, "registers"), small_count(from, "spill_bytes")
      result.shared_bytes = small_count(from, "shared_bytes")
    end
    r.results[i] = result
  end
end

-- ---- records: reads winner, contenders and default of the problem that has the most contenders ----

local function read_record(r, root)
  local entry, most = nil, -1
  for _, e in ipairs(root.entries) do
    local contenders = get(e, "contenders")
    local count = is_list(contenders) and #contenders or 0
    if count > most then entry, most = e, count end
  end
  if not entry then refuse("the record has no entry", "missing", 0) end
  local unit
  r.ceiling = known_ceiling(text(entry, "ceiling", ""))
  read_problem(r, entry)
  for _, u in ipairs { (ceiling_of(r.ceiling)), "bytes", "flops", "items" } do
    if not unit or r.work[unit] <= 0 then unit = u end
  end
  r.names = names_of(get(entry, "configuration"), "an entry of the record has no 'configuration'")
  local function add(from)
    local values, time = {}, get(from, "time")
    local median_ns = positive(get(time, "median_ns"))
    for p, name in ipairs(r.names) do
      values[p] = get(get(from, "configuration"), name)
      if not is_value(values[p]) then return end
    end
    if median_ns == 0 then return end
    r.results[#r.results + 1] = {
      values = values, outcome = "ok", cost = median_ns / 1e6, low_ms = positive(get(time, "low_ns")) / 1e6,
      high_ms = positive(get(time, "high_ns")) / 1e6, rate = r.work[unit] / median_ns,
      occupancy = positive(get(get(from, "resources"), "occupancy")),
    }
  end
  add(entry)
  for _, contender in ipairs(most > 0 and entry.contenders or {}) do add(contender) end
  local baseline = get(entry, "baseline")
  add(baseline)
  r.landscape = get(entry, "landscape")
  r.kernel, r.device = text(root, "pattern", ""), root.gpu
  r.order, r.is_record = "ranked", true
  r.rate_unit = ({ bytes = "GB/s", flops = "GFLOP/s", items = "Gitems/s" })[unit]
  r.ceiling_rate = positive(get(entry, ceiling_of(r.ceiling) == "bytes" and "ceiling_gbps" or "ceiling_rate"))
  r.baseline_ms = positive(get(get(baseline, "time"), "median_ns")) / 1e6
  r.baseline_rate = r.baseline_ms > 0 and r.work[unit] / (r.baseline_ms * 1e6) or 0
end

-- Replaces the few variants of a record by its landscape: the times of all variants by the value of one parameter. Does
-- nothing if the file has no landscape.
function recorded.use_landscape(r)
  local results, levels = {}, get(r.landscape, "values")
  local parameter, first = text(r.landscape, "parameter"), r.results[1]
  for _, level in ipairs(r.is_record and parameter and is_list(levels) and levels or {}) do
    local v, times = get(level, "value"), get(level, "times_ns")
    for _, ns in ipairs(is_value(v) and is_list(times) and times or {}) do
      if positive(ns) > 0 then
        results[#results + 1] = { values = { v }, outcome = "ok", cost = ns / 1e6,
                                  rate = first and first.rate and first.rate * first.cost * 1e6 / ns or nil }
      end
    end
  end
  if #results > 0 then r.names, r.results, r.is_record = { parameter }, results, false end
end

-- ---- Kernel Launcher's wisdom, as templates/export/wisdom.tmpl writes it. The first line names the parameters.
-- Results of all devices and problems are read, because a configuration that is fast for one of these is worth trying.
-- ----

local function read_wisdom(r, lines)
  local head = lines[1].value
  local parameters = head.tunable_parameters
  r.objective, r.kernel = text(head, "objective"), text(head, "key", "")
  if not r.objective or #parameters == 0 or #parameters > MOST_PARAMETERS then
    bad(1, "the first line of a wisdom file must have an objective and 1 to %d tunable_parameters", MOST_PARAMETERS)
  end
  for i, name in ipairs(parameters) do
    if type(name) ~= "string" then bad(1, "parameter %d has no name", i - 1) end
  end
  r.names = parameters
  for i = 2, #lines do
    local line, values = lines[i].value, get(lines[i].value, "config")
    local cost = positive(get(line, r.objective))
    if not is_list(values) or #values ~= #parameters or cost == 0 then
      bad(lines[i].line, "each line of a wisdom file must have a config of %d values and a %s above 0", #parameters, string.sub(r.objective, 1, 40))
    end
    for p, name in ipairs(parameters) do
      if not is_value(values[p]) then bad(lines[i].line, "'%s' has no value", string.sub(name, 1, 80)) end
    end
    local environment = get(line, "environment")
    if i == 2 then r.device = text(environment, "device_name", r.device) end
    r.results[i - 1] = { values = values, outcome = "ok", cost = cost, timestamp = text(environment, "date") }
  end
end

-- ---- autotune's journals (journal/line.h). The newest line comes first, and the first line of a variant counts. ----

-- Returns the names and values of "a=1,b=x", or nil for any other text.
local function read_pairs(configuration)
  local found, values = {}, {}
  for pair in string.gmatch(configuration .. ",", "([^,]*),") do
    local name, v = string.match(pair, "^([^=]+)=(.*)$")
    if not name or #found == MOST_PARAMETERS then return end
    found[#found + 1], values[#values + 1] = name, parse_value(v)
  end
  return found, values
end

local function read_journal(r, lines)
  r.order = "newest first"
  for _, line in ipairs(lines) do
    local found, values = read_pairs(line.configuration)
    r.names = r.names or found
    local samples = get(line, "samples_ns") or {}
    local fits = found and #found == #r.names and (line.outcome ~= "ok" or #samples > 0)
    for p, name in ipairs(fits and found or {}) do fits = fits and name == r.names[p] end
    if fits then
      local ms, resources = {}, get(line, "resources")
      for i, ns in ipairs(samples) do ms[i] = ns / 1e6 end
      local result = { values = values, outcome = line.outcome, compile_ms = (get(line, "compile_ns") or 0) / 1e6,
                       check_ms = (get(line, "check_ns") or 0) / 1e6, run_ms = sum(ms), samples_ms = ms }
      local median_ns, low_ns, high_ns = median_of(samples)
      if line.outcome == "ok" and median_ns == 0 then result.outcome = "launch_error" end
      if line.outcome == "ok" and median_ns > 0 then
        result.cost, result.low_ms, result.high_ms = median_ns / 1e6, low_ns / 1e6, high_ns / 1e6
      end
      if resources then
        result.registers, result.shared_bytes = get(resources, "registers") or 0, get(resources, "static_shared_bytes") or 0
        result.spill_bytes = (get(resources, "spill_store_bytes") or 0) + (get(resources, "spill_load_bytes") or 0)
      end
      r.results[#r.results + 1] = result
    end
  end
end

-- ---- all formats ----

-- Returns a text that is the same for equal values. 1 and 1.0 are equal, 1 and "1" are not.
function recorded.key(v)
  if type(v) == "string" then return "s" .. #v .. v end
  return math.type(v) and (math.tointeger(v) and "n" .. math.tointeger(v) or string.format("n%.17g", v)) or tostring(v)
end

-- Keeps the first result of each configuration.
local function drop_repeated(r)
  local seen, kept = {}, {}
  for _, result in ipairs(r.results) do
    local parts = {}
    for p, v in ipairs(result.values) do parts[p] = recorded.key(v) end
    local key = table.concat(parts, ",")
    if not seen[key] then seen[key], kept[#kept + 1] = true, result end
  end
  r.results = kept
end

local function read_document(r, root)
  local results = get(root, "results")
  if is_object(get(root, "cache")) then
    read_kernel_tuner(r, root)
  elseif is_list(results) and type(get(root, "counts")) == "table" and type(get(root, "pattern")) == "string" then
    read_run(r, root)
  elseif is_list(results) then
    read_t4(r, root)
  elseif is_list(get(root, "entries")) and type(get(root, "gpu")) == "string" then
    read_record(r, root)
  else
    bad(0, "the format of this file is unknown: give a record, a run's --json, a Kernel Tuner cache, T4 results, "
      .. "wisdom or a journal")
  end
end

local READERS = { journal = read_journal, wisdom = read_wisdom, document = read_document }

function recorded.read(source)
  local r = { results = {}, device = "", kernel = "", objective = "time", problem = "", work = { bytes = 0, flops = 0, items = 0 },
              ceiling_rate = 0, baseline_ms = 0, baseline_rate = 0, space_count = 0 }
  READERS[source.format](r, source.content)
  drop_repeated(r)
  if #r.results == 0 then bad(0, "holds no results") end
  return r
end

-- Returns the results that did not fail, best first; equal results keep their order.
function recorded.rank(r)
  local works = {}
  for i, result in ipairs(r.results) do
    if result.cost then works[#works + 1] = { result, i } end
  end
  table.sort(works, function(a, b) return a[1].cost < b[1].cost or a[1].cost == b[1].cost and a[2] < b[2] end)
  for i, pair in ipairs(works) do works[i] = pair[1] end
  return works
end

local RANKS = { boolean = 1, number = 2, string = 3 }

-- Orders booleans before numbers before texts.
local function before(a, b)
  if type(a) ~= type(b) then return RANKS[type(a)] < RANKS[type(b)] end
  if type(a) == "boolean" then return not a and b end
  return a < b
end

-- Returns the different values of parameter `p` in the results, sorted, and the index of each value by its key.
function recorded.levels(results, p)
  local levels, places = {}, {}
  for _, result in ipairs(results) do
    local v = result.values[p]
    local key = recorded.key(v)
    if not places[key] then levels[#levels + 1], places[key] = v, true end
  end
  table.sort(levels, before)
  for i, v in ipairs(levels) do places[recorded.key(v)] = i end
  return levels, places
end

return recorded
