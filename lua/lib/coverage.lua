-- Describes what a proof covered. `covered` is this member of records and of --json. `oracle` is the source of the
-- expected results; nil means the reference.

local coverage = {}

-- Returns the sentence which says that no result of the tuned problem was compared, or nil if some were.
local function smaller(covered)
  if not has(covered, "extent") or covered.extent ~= "smaller" then return nil end
  local run, left = {}, "the tuned problem"
  for problem in string.gmatch(covered.problems .. ", ", "(.-), ") do
    local values = string.match(problem, "problem (.+)") or problem
    values = string.gsub(string.gsub(values, " (%w+=)", ", %1"), "=", " = ")
    if string.find(problem, "^blocks of the tuned") then left = values else run[#run + 1] = values end
  end
  return "for " .. table.concat(run, "; ") .. " alone: no result at " .. left .. " was compared"
end

function coverage.sentences(covered, oracle)
  local out = {}
  if not covered then return out end
  out[1] = smaller(covered)
  local tuned = covered.tuned
  if tuned then
    local told = units.count(tuned.run) .. " of the tuned problem's " .. units.count(tuned.blocks)
      .. " blocks were run"
    local parts = {
      { "cut", "; %s of them were left where they wait for others" },
      { "blind", "; %s ended where they read what others write" },
      { "compared", "; %s elements of these equal the " .. (oracle == "reference" and oracle or oracle and "baseline" or "reference") .. "'s" },
    }
    for _, part in ipairs(parts) do
      local n = tuned[part[1]]
      if n > 0 then told = told .. string.format(part[2], units.count(n)) end
    end
    out[#out + 1] = told
  end
  local texts = {
    { "skipped", "of the tuned problem: " },
    { "never_ran", "never executed, as compiled: " },
    { "ran_once", "loops whose body, as compiled, ran once at most (it may hold several rounds), whatever the problem: " },
    { "unwatched", "races were looked for in some blocks alone, because of its size, in " },
    { "allowed", "results that differ, as at.mismatches() allows: " },
  }
  for _, text in ipairs(texts) do
    local what = has(covered, text[1]) and covered[text[1]]
    if what and what ~= "" then out[#out + 1] = text[2] .. what end
  end
  return out
end

return coverage
