-- The fastest result of a file, for 'autotune compare'.

local recorded = require "lib.recorded"

return function(source)
  local r = recorded.read(source)
  local best = recorded.rank(r)[1]
  if r.is_record then return { is_record = true } end
  if not best then refuse("no variant has a time", "missing", 0) end
  local texts, values, problem = {}, {}, recorded.get(source.content, "problem")
  for p, name in ipairs(r.names) do
    texts[p], values[p] = name .. "=" .. spell(best.values[p]), { name, best.values[p] }
  end
  return {
    -- Without blanks, as records spell it.
    problem_text = (string.gsub(r.problem, " ", "")), problem = type(problem) == "table" and #names(problem) > 0 and problem or object {},
    kernel = r.kernel, gpu = r.device, configuration = table.concat(texts, ","), values = object(values),
    time_ns = best.cost * 1e6, low_ns = (best.low_ms or 0) * 1e6, high_ns = (best.high_ms or 0) * 1e6,
    is_predicted = r.is_predicted or false,
    resources = best.registers and { best.registers, best.spill_bytes, best.shared_bytes } or false,
  }
end
