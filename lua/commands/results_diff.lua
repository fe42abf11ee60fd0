-- autotune results diff: lists entries added, removed, changed, faster or slower between two records or folders.

local entries = require "lib.entries"
local judge = require "lib.judge"

-- Returns all entries of the records, the first entry for each key, and the GPUs.
local function list_side(records)
  local all, first, gpus = {}, {}, {}
  for i, r in ipairs(records) do
    -- Records are sorted by GPU, so each GPU is added once.
    if i == 1 or r.gpu ~= records[i - 1].gpu then gpus[#gpus + 1] = r.gpu end
    entries.each(r, {}, function(e)
      local question = entries.question(e)
      local key = table.concat({ r.gpu, r.pattern, entries.key(e.problem), question[2][2], question[3][2], question[4][2] or "" }, "\n")
      all[#all + 1] = { record = r, entry = e, question = question, key = key }
      first[key] = first[key] or e
    end)
  end
  return all, first, gpus
end

local function times_of(e) return { low_ns = e.time.low_ns, median_ns = e.time.median_ns, high_ns = e.time.high_ns } end

return function(given)
  local list, words = {}, {}
  local a_all, a_first, a_gpus = list_side(given.a)
  local b_all, b_first, b_gpus = list_side(given.b)
  local function add(of, kind, a, b, changed, low, high)
    local one = { { "kind", kind }, { "pattern", of.record.pattern }, { "gpu", of.record.gpu }, { "configuration_changed", changed } }
    for _, pair in ipairs(of.question) do one[#one + 1] = pair end
    if a then one[#one + 1] = { "a_ns", a.time.median_ns } end
    if b then one[#one + 1] = { "b_ns", b.time.median_ns } end
    if high > 0 then
      one[#one + 1] = { "ratio_low", entries.rounded(low, 6) }
      one[#one + 1] = { "ratio_high", entries.rounded(high, 6) }
    end
    list[#list + 1] = object(one)
    words[#words + 1] = { low = low, high = high, changed = changed and { a.configuration, b.configuration } or nil }
  end
  for _, of in ipairs(a_all) do
    local a, b = of.entry, b_first[of.key]
    if not b then
      add(of, "GONE", a, nil, false, 0.0, 0.0)
    else
      local verdict, low, high = judge.medians(times_of(a), times_of(b), judge.FILES_MARGIN)
      local changed = entries.key(a.configuration) ~= entries.key(b.configuration)
      local same = verdict == "SAME" or entries.same(a, b)
      add(of, same and changed and "CHANGED" or same and "SAME" or verdict, a, b, changed, low, high)
    end
  end
  for _, of in ipairs(b_all) do
    if not a_first[of.key] then add(of, "ADDED", nil, of.entry, false, 0.0, 0.0) end
  end
  return { object { { "differences", list } }, { words = words, a_gpus = a_gpus, b_gpus = b_gpus } }
end
