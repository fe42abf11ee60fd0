-- autotune results list: lists the entries of all records, with GPU and file.

local entries = require "lib.entries"

return function(given)
  local list, records = {}, {}
  for _, r in ipairs(given.records) do
    local rows, counts = {}, {}
    entries.each(r, given.wanted, function(e, place)
      local f, question = entries.figures(e), entries.question(e)
      local one = {
        { "pattern", r.pattern }, { "gpu", r.gpu }, { "file", r.file }, { "pointer", "/entries/" .. place },
        { "configuration", e.configuration }, { "time_ns", f.time_ns }, { "ceiling_fraction", entries.rounded(f.share, 4) },
        { "speedup", entries.rounded(f.speedup, 4) }, { "date", f.date }, { "tool", f.tool },
      }
      for _, pair in ipairs(question) do
        one[#one + 1] = pair
        f[pair[1]] = pair[2]
      end
      f.after = f.after or false
      list[#list + 1], rows[#rows + 1] = given.is_json and object(one) or nil, f
    end)
    for i, portfolio in ipairs(entries.portfolios(r, given.wanted)) do counts[i] = #portfolio[1].configurations end
    records[#records + 1] = { gpu = r.gpu, major = r.major, minor = r.minor, pattern = r.pattern, file = r.file, rows = rows,
                              portfolios = counts }
  end
  return { object { { "folders", given.folders }, { "entries", list }, { "left_out", given.left_out } },
           { records = given.is_json and {} or records } }
end
