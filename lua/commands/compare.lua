-- autotune compare: lists the problems that became faster or slower between two records, runs or journals.

local recorded = require "lib.recorded"
local entries = require "lib.entries"
local judge = require "lib.judge"
local get = recorded.get

local STEPS = {}

local function texts_of(values)
  local texts = {}
  for i, pair in ipairs(values) do texts[i] = pair[1] .. "=" .. spell(pair[2]) end
  return table.concat(texts, ",")
end

local function pairs_of(values)
  local out = {}
  for i, name in ipairs(names(values)) do out[i] = { name, values[name] } end
  return out
end

local function of_record(r)
  local subjects = {}
  entries.each(r, {}, function(e)
    local question = entries.question(e)
    local words = (question[2][2] == "warm" and " (warm)" or "") .. (question[3][2] == "energy" and " (energy)" or "")
      .. (question[4][2] and " (after " .. question[4][2] .. ")" or "")
    subjects[#subjects + 1] = {
      problem = texts_of(pairs_of(e.problem)) .. words, asked = object(question), pattern = r.pattern,
      configuration = texts_of(pairs_of(e.configuration)), values = e.configuration, arch = "sm_" .. r.major .. r.minor,
      low_ns = e.time.low_ns, time_ns = e.time.median_ns, high_ns = e.time.high_ns, is_predicted = false, resources = false,
    }
  end)
  return { gpu = r.gpu, subjects = subjects }
end

-- Returns the fastest result of a run, a journal or a file of another tool, in the form of of_record().
local function of_measurements(source)
  local r = recorded.read(source)
  local best, values, problem = recorded.rank(r)[1], {}, get(source.content, "problem")
  if r.is_record then return { is_record = true } end
  if not best then refuse("no variant has a time", "missing", 0) end
  for p, name in ipairs(r.names) do values[p] = { name, best.values[p] } end
  return { gpu = r.device, subjects = { {
    -- In records, the text of a problem has no blanks.
    problem = (string.gsub(r.problem, " ", "")),
    asked = object { { "problem", type(problem) == "table" and #names(problem) > 0 and problem or object {} } },
    pattern = r.kernel, configuration = texts_of(values), values = object(values), arch = "sm_90",
    low_ns = (best.low_ms or 0) * 1e6, time_ns = best.cost * 1e6, high_ns = (best.high_ms or 0) * 1e6,
    is_predicted = r.is_predicted or false,
    resources = best.registers and { best.registers, best.spill_bytes, best.shared_bytes } or false,
  } } }
end

-- Step "read", given { record } or { source }: the best result of each problem in the file.
function STEPS.read(given)
  return has(given, "record") and of_record(given.record) or of_measurements(given.source)
end

local function judge_files(a, b, margin)
  if a.is_predicted ~= b.is_predicted then return "NOT SURE", 0.0, 0.0 end
  if a.is_predicted then
    -- Predictions are not measurements and have no noise.
    local times = b.time_ns / a.time_ns
    return judge.interval(times, times, margin), times, times
  end
  return judge.medians({ low_ns = a.low_ns, median_ns = a.time_ns, high_ns = a.high_ns },
                       { low_ns = b.low_ns, median_ns = b.time_ns, high_ns = b.high_ns }, margin)
end

-- Step "pair", given { a, b, margin }: for each problem, makes a pair of the results of both files, and judges the pair
-- by the recorded times. If each file has one result, and one file does not say its problem, the two results are a pair.
function STEPS.pair(given)
  local a, b, first, out = given.a.subjects, given.b.subjects, {}, {}
  local single = #a == 1 and #b == 1 and (a[1].problem == "" or b[1].problem == "")
  for _, s in ipairs(b) do first[s.problem] = first[s.problem] or s end
  for _, s in ipairs(a) do
    local other = single and b[1] or first[s.problem]
    if other then
      local verdict, low, high = judge_files(s, other, get(given, "margin") or judge.FILES_MARGIN)
      out[#out + 1] = { a = s, b = other, verdict = verdict, low = low, high = high }
    end
  end
  return out
end

local function whole(count) return count < 0x1p63 and math.floor(count + 0.5) or math.maxinteger end

-- Returns the members of a side that only the printed text needs.
local function side_of(s)
  local counts = get(s, "counts")
  return { problem = s.problem, configuration = s.configuration, time_ns = s.time_ns + 0.0, predicted = s.is_predicted,
           counted = counts ~= nil, arch = s.arch, sectors = counts and counts.sectors, conflicts = counts and counts.conflicts,
           resources = s.resources or nil }
end

-- Step "print", given { comparisons, is_raced, gpus }: returns the data to print.
function STEPS.print(given)
  local list, sides = {}, {}
  for i, c in ipairs(given.comparisons) do
    local one = pairs_of(c.a.asked)
    local function put(name, v) one[#one + 1] = { name, v } end
    put("verdict", c.verdict)
    put("ratio_low", c.low > 0 and c.low or nil)
    put("ratio_high", c.high > 0 and c.high or nil)
    put("a_ns", whole(c.a.time_ns))
    put("b_ns", whole(c.b.time_ns))
    put("a_config", c.a.values)
    put("b_config", c.b.values)
    for _, side in ipairs { "a", "b" } do
      local counts, resources = get(c[side], "counts"), c[side].resources
      if counts then
        put(side .. "_counts", object { { "sectors", whole(counts.sectors) }, { "conflicts", whole(counts.conflicts) },
                                        { "registers", resources[1] }, { "spill_bytes", resources[2] } })
      end
    end
    list[i], sides[i] = object(one), { side_of(c.a), side_of(c.b) }
  end
  return { object { { "comparisons", list } }, { sides = sides, raced = given.is_raced, gpus = given.gpus } }
end

return function(given) return STEPS[given.step](given) end
