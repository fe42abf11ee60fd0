-- autotune convert: writes recorded measurements in the format of another tool.

local recorded = require "lib.recorded"

-- Returns a result's values as { { name, value }, ... }.
local function values_of(r, result)
  local out = {}
  for p, name in ipairs(r.names) do out[p] = { name, result.values[p] } end
  return out
end

-- ---- Kernel Tuner's caches ----

local FAILURES = { rejected = "InvalidConfig", compile_error = "CompilationFailedConfig" }

-- Returns Python's str() of each value, with commas between. Kernel Tuner uses this text as the key of a configuration.
local function key_of(result)
  local parts = {}
  for p, v in ipairs(result.values) do parts[p] = v == true and "True" or v == false and "False" or spell(v) end
  return table.concat(parts, ",")
end

local function kernel_tuner(r)
  local levels, cache = {}, {}
  for p, name in ipairs(r.names) do levels[p] = { name, (recorded.levels(r.results, p)) } end
  for i, result in ipairs(r.results) do
    local entry, failure = values_of(r, result), FAILURES[result.outcome] or "RuntimeFailedConfig"
    local function put(name, v) entry[#entry + 1] = { name, v } end
    put(r.objective, result.cost or failure)
    if not result.cost then put("__error__", failure) end
    put("times", result.samples_ms or {})
    put("compile_time", result.compile_ms or 0.0)
    put("verification_time", result.check_ms or 0.0)
    put("benchmark_time", result.run_ms or 0.0)
    put("strategy_time", 0)
    put("framework_time", 0)
    put("timestamp", result.timestamp or "")
    cache[i] = { key_of(result), object(entry) }
  end
  return object { { "device_name", r.device }, { "kernel_name", r.kernel }, { "problem_size", "" }, { "tune_params_keys", r.names },
                  { "tune_params", object(levels) }, { "objective", r.objective }, { "cache", object(cache) } }
end

-- ---- T4 ----

local INVALIDITIES = { ok = "correct", rejected = "constraints", compile_error = "compile", launch_error = "runtime",
                       wrong_result = "correctness", crashed = "runtime", timeout = "timeout", too_slow = "timeout" }

local function t4(r)
  local results = {}
  for i, result in ipairs(r.results) do
    results[i] = object {
      { "timestamp", result.timestamp or "" }, { "configuration", object(values_of(r, result)) },
      { "times", object { { "compilation_time", result.compile_ms or 0.0 }, { "framework", 0 }, { "search_algorithm", 0 },
                          { "validation", result.check_ms or 0.0 }, { "runtimes", result.samples_ms or {} } } },
      { "invalidity", INVALIDITIES[result.outcome] or "runtime" }, { "correctness", result.cost and 1 or 0 },
      { "measurements", { object { { "name", r.objective }, { "value", result.cost or result.outcome },
                                   { "unit", r.objective == "time" and "ms" or "" } } } },
      { "objectives", { r.objective } },
    }
  end
  return object { { "schema_version", "1.0.0" },
                  { "metadata", object { { "timeunit", "milliseconds" }, { "device", r.device }, { "kernel", r.kernel } } },
                  { "results", results } }
end

local WRITERS, NAMES = { ["kernel-tuner"] = kernel_tuner, t4 = t4 }, { "kernel-tuner", "t4" }

-- given: source, the format, and name, which is the kernel's name if the file does not have one.
return function(given)
  local r = recorded.read(given.source)
  if r.kernel == "" then r.kernel = given.name end
  local write = WRITERS[given.format]
  if not write then
    refuse(string.format("there is no format '%s': did you mean '%s'?", given.format, nearest_name(given.format, NAMES) or NAMES[1]))
  end
  return write(r)
end
