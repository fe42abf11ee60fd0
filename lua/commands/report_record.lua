-- autotune report: makes the data that the page shows of a record, without pictures and counters.

local entries = require "lib.entries"
local get = entries.get

local UNITS = { "bytes", "flops", "items" }
local RATES = { bytes = "gbps", flops = "gflops", items = "gitems" }

-- Returns the name of the ceiling. Records of earlier versions do not name the ceiling, which is that of a copy.
local function ceiling_name(e)
  local name = get(e, "ceiling") or ""
  return ceiling_of(name) and name or "copy"
end

local function rate(e, unit) return (get(e, RATES[unit]) or 0) + 0.0 end

-- Returns the unit of the ceiling, or the first recorded unit.
local function unit_of(e)
  local unit = ceiling_of(ceiling_name(e))
  for _, u in ipairs(UNITS) do
    if rate(e, unit) <= 0 then unit = u end
  end
  return unit
end

local function rate_unit(e)
  local unit, item = unit_of(e), get(e, "item") or ""
  return unit == "bytes" and "GB/s" or unit == "flops" and "GFLOP/s" or "G" .. (item ~= "" and item or "items") .. "/s"
end

-- given: record (in the form of lua/lib/entries.lua), place (a number that makes the page's anchors unique), pictures,
-- and counts or why_no_counts.
return function(given)
  local r, rows, first, bound = given.record, {}, nil, nil
  entries.each(r, {}, function(e)
    first = first or e
    local f, name = entries.figures(e), ceiling_name(e)
    local row = { time_ns = f.time_ns, low_ns = e.time.low_ns, high_ns = e.time.high_ns, rate = rate(e, unit_of(first)),
                  share = f.share, speedup = f.speedup, date = f.date }
    for _, pair in ipairs(entries.question(e)) do row[pair[1]] = pair[2] end
    row.after = row.after or false
    bound = (not bound or bound == name) and name or "ceiling"
    rows[#rows + 1] = row
  end)
  local page = { pattern = r.pattern, gpu = r.gpu, place = given.place, entries = rows }
  if not first then return page end
  local _, words = ceiling_of(ceiling_name(first))
  page.first, page.configuration = first, first.configuration
  page.baseline = get(get(first, "baseline"), "configuration") or false
  page.bound, page.rate_unit = { name = bound, words = words }, rate_unit(first)
  page.pictures = given.pictures
  if has(given, "counts") then page.counts = given.counts else page.why_no_counts = given.why_no_counts end
  return page
end
