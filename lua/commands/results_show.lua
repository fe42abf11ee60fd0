-- autotune results show: describes the entries of a pattern, and the portfolios of each record.

local entries = require "lib.entries"

-- Fails because the pattern has no entries. Its name may be misspelt, so the message has similar names.
local function refuse_none(given)
  local near, known
  for _, name in ipairs(given.patterns) do
    known = known or name == given.asked
    near = near or nearest_name(given.asked, { name })
  end
  refuse(string.format("there is no record of %s: 'autotune results list' lists all%s",
                       known and "such an entry" or "'" .. given.asked .. "'",
                       near and not known and "; did you mean '" .. near .. "'?" or ""))
end

return function(given)
  local list, shown = {}, {}
  for _, r in ipairs(given.records) do
    entries.each(r, given.wanted, function(e, place)
      local copy = {}
      for i, name in ipairs(names(e)) do copy[i] = { name, entries.get(e, name) } end
      for _, name in ipairs { "pattern", "gpu", "file" } do copy[#copy + 1] = { name, r[name] } end
      local one = { pattern = r.pattern, gpu = r.gpu, file = r.file, place = place, entry = e, after = false }
      for _, pair in ipairs(entries.question(e)) do one[pair[1]] = pair[2] end
      one.after = one.after or false
      list[#list + 1], shown[#shown + 1] = object(copy), one
    end)
    for _, portfolio in ipairs(entries.portfolios(r, given.wanted)) do
      shown[#shown + 1] = { pattern = r.pattern, gpu = r.gpu, file = r.file, place = portfolio[2], portfolio = portfolio[1] }
    end
  end
  if #shown == 0 then refuse_none(given) end
  return { object { { "entries", list } }, { shown = shown } }
end
