-- autotune pick: prints the configuration that a program gets, its rule, and why better configurations cannot be used.
--
-- given: pattern, gpu { name, major, minor }, problem, choice, refused, records { gpu, major, minor }, folders. `choice`
-- and each member of `refused` is a candidate. A candidate has rule and configuration and, if known, gpu and pattern of its
-- record; problem, time_ns and number of its entry; and place, its index in a portfolio. A refused candidate has a reason:
-- by_tree (the portfolio's tree chose the default), seen (a problem on which it was no faster than the default; is_slower
-- if it was slower), or broken { line, text } (a constraint).

local get, pairs_of

-- Returns where a candidate was measured, as a text.
local function measured(c)
  if not get(c, "gpu") then return "the pattern's default" end
  if get(c, "problem") then return pairs_of(c.problem) .. " on " .. c.gpu end
  return "a portfolio of " .. c.gpu
end

local function why_refused(c)
  if c.by_tree then return "the decision tree of its portfolio chooses the default for this problem" end
  if get(c, "seen") then
    return (c.is_slower and "slower than the default at " or "no faster than the default beyond noise at ")
      .. pairs_of(c.seen)
  end
  if get(c, "broken") then return "breaks line " .. c.broken.line .. ": " .. c.broken.text end
  return "the script has no such configuration, or a constraint fails on it"
end

-- Returns the GPU of the portfolio whose tree chose the default, or nil.
local function tree_of_default(given)
  for _, c in ipairs(given.choice.rule == "default" and given.refused or {}) do
    if c.by_tree then return c.gpu end
  end
end

local function why_default(given, p)
  local tree = tree_of_default(given)
  if tree then return "the tree of the portfolio of " .. tree .. " chooses the script's default for this problem" end
  if #given.refused > 0 then return "the script's default, because none of the recorded configurations is chosen "
    .. "here:" end
  local texts = {}
  if #given.records == 0 then
    for i, folder in ipairs(given.folders) do texts[i] = p.path(folder) end
    return "the script's default, because there are no results of this pattern in " .. table.concat(texts, " or ")
  end
  for i, r in ipairs(given.records) do texts[i] = string.format("%s (sm_%d%d)", r.gpu, r.major, r.minor) end
  return "the script's default, because there are results only of " .. table.concat(texts, ", ")
    .. (given.records[1].major ~= given.gpu.major and ", whose major compute capability is another one" or "")
end

local RELATIONS = { same_capability = "the same compute capability", same_major = "the same major capability" }

local function why(given, p)
  local c, text = given.choice
  local problem = get(c, "problem") and pairs_of(c.problem)
  if c.rule == "exact" then
    return "measured on this GPU and this problem"
  elseif c.rule == "default" then
    return why_default(given, p)
  elseif c.rule == "none" then
    return "no known configuration is possible for this problem"
  elseif c.rule == "nearest_problem" then
    return "this problem was not measured on this GPU; the nearest is " .. problem
  elseif c.rule == "portfolio" then
    text = "this problem was not measured on this GPU"
  else
    text = "there is no record of this GPU; " .. c.gpu .. " has "
      .. (RELATIONS[c.rule] or "no capability in common with this GPU, but the default is not possible")
      .. (problem and "; there the nearest problem is " .. problem or "")
  end
  if not get(c, "place") then return text end
  return text .. "; the tree of its portfolio chooses configuration " .. c.place .. " ('autotune results show " .. c.pattern
    .. "' prints both)"
end

return function(given)
  local p = require "lib.page" {}
  get, pairs_of = p.get, p.pairs_of
  local refused, alike = {}, {}
  for i, c in ipairs(given.refused) do
    refused[i] = object { { "rule", c.rule }, { "measured", measured(c) }, { "configuration", c.configuration },
                          { "why", why_refused(c) } }
    -- Successive candidates with the same measurement and reason are shown once, with their number.
    local last, key = alike[#alike], table.concat({ c.rule, measured(c), get(c, "number") or "", why_refused(c) }, "\n")
    if last and last.key == key then
      last.count = last.count + 1
    else
      alike[#alike + 1] = { key = key, count = 1, source = c.rule .. ", " .. measured(c), configuration = c.configuration,
                            why = why_refused(c) }
    end
  end
  local c = given.choice
  return {
    object { { "pattern", given.pattern }, { "gpu", given.gpu.name }, { "problem", given.problem }, { "rule", c.rule },
             { "measured", measured(c) }, { "configuration", c.configuration }, { "refused", refused } },
    { capability = given.gpu.major .. "." .. given.gpu.minor, by_portfolio = tree_of_default(given) ~= nil,
      time_ns = get(c, "time_ns") or 0, reason = why(given, p), alike = alike },
  }
end
