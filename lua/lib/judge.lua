-- Judges two recorded times by the bounds of the interval of their ratio, not by the ratio itself.

-- Quantiles of the normal distribution for 95 % and 99 %.
local QUANTILE_95, QUANTILE_99 = 1.96, 2.576

local judge = { FILES_MARGIN = 0.005 } -- smaller relative differences of recorded times count as equal, because machines differ

-- Returns the verdict on the interval of B's time / A's time. Ratios within 1 +- `margin` count as equal.
function judge.interval(low, high, margin)
  if low > 1 + margin then return "SLOWER" end
  if high < 1 / (1 + margin) then return "FASTER" end
  return low >= 1 / (1 + margin) and high <= 1 + margin and "SAME" or "NOT SURE"
end

-- Returns the standard error of log(median), computed from the median's 95 % interval.
local function log_error(t)
  return t.low_ns > 0 and t.high_ns >= t.low_ns and math.log(t.high_ns / t.low_ns) / (2 * QUANTILE_95) or math.huge
end

-- Compares medians { low_ns, median_ns, high_ns } that were recorded separately. Returns the verdict and the bounds of
-- the ratio's 99 % interval; "NOT SURE", 0 and 0 if an interval is missing.
function judge.medians(a, b, margin)
  local middle, x, y = math.log(b.median_ns / a.median_ns), log_error(a), log_error(b)
  local half = QUANTILE_99 * math.sqrt(x * x + y * y)
  if half == math.huge then return "NOT SURE", 0.0, 0.0 end
  local low, high = math.exp(middle - half), math.exp(middle + half)
  return judge.interval(low, high, margin), low, high
end

return judge
