-- Formats text for a terminal: lines that are wrapped to its width, labels, tables.
--
--   local p = require "lib.page"(page)
--
-- `page` has the properties of the terminal: columns, colour, utf8. The text may come from other people's scripts and
-- files, so control characters, which a terminal would obey, are never written.

local STYLES = { best = "\27[1;32m", dim = "\27[2m", bold = "\27[1m", good = "\27[1;32m", warning = "\27[33m" }
local STOP = "\27[0m"
local GAP, NOTE_INDENT, LEAST_WORDS = 2, 6, 16
local MOST_COLUMNS = 96

local format, rep, sub, find, gsub = string.format, string.rep, string.sub, string.find, string.gsub

-- Replaces every control character by '?', including those of two bytes in UTF-8.
local function clean(text)
  if not find(text, "[\0-\31\127\194]") then return text end
  text = gsub(text, "\194[\128-\159]", "?")
  return (gsub(text, "[\0-\31\127]", "?"))
end

-- Counts characters: every byte except the continuation bytes of UTF-8.
local function width(text)
  if not find(text, "[\128-\191]") then return #text end
  return #(gsub(text, "[\128-\191]", ""))
end

local function pad_left(text, columns) return rep(" ", columns - width(text)) .. text end
local function pad_right(text, columns) return text .. rep(" ", columns - width(text)) end

-- Wraps `words` to lines of `columns`. Lines after the first begin with `indent` blanks.
local function wrap(words, columns, indent)
  local lines = {}
  repeat
    local used, skip = cut(words, columns)
    lines[#lines + 1] = sub(words, 1, used)
    words = sub(words, used + skip + 1)
  until words == ""
  return table.concat(lines, "\n" .. rep(" ", indent))
end

-- Returns "a=1,b=2" for an object, whose members keep their order, or for a list of { name, value }. `between` replaces ",".
local function pairs_of(values, between)
  local texts = {}
  if #values > 0 then
    for i, pair in ipairs(values) do texts[i] = pair[1] .. "=" .. spell(pair[2]) end
  else
    for i, name in ipairs(names(values)) do texts[i] = name .. "=" .. spell(values[name]) end
  end
  return table.concat(texts, between or ",")
end

-- Returns a note for a problem that replaces a larger tuned problem on simulated devices. The note has the option that asks
-- for the tuned problem. `stood_for` has the tuned values that differ. Returns "" if it is empty.
local function stand_in(stood_for)
  if #names(stood_for) == 0 then return "" end
  return "a smaller problem, for simulated devices; the tuned one: --set " .. pairs_of(stood_for, " --set ")
end

-- Returns the texts as "A, B and C".
local function list(texts)
  local out = texts[1] or ""
  for i = 2, #texts do out = out .. (i < #texts and ", " or " and ") .. texts[i] end
  return out
end

-- Returns an object's member, or nil if it is missing or null.
local function get(object, name)
  if object and has(object, name) then return object[name] end
end

-- Returns the variables with equal values in all entries, { { name, value }, ... }, and a function that returns the
-- other variables of an entry. If all entries have the same problem, the first result is empty.
local function in_common(entries)
  local shared, common, differs = {}, {}, false
  for _, name in ipairs(#entries > 1 and names(entries[1].problem) or {}) do
    local same = true
    for _, e in ipairs(entries) do same = same and get(e.problem, name) == entries[1].problem[name] end
    if same then common[#common + 1] = { name, entries[1].problem[name] } end
    shared[name] = same
    differs = differs or not same
  end
  if not differs then shared, common = {}, {} end
  return common, function(entry)
    local own = {}
    for _, name in ipairs(names(entry.problem)) do
      if not shared[name] then own[#own + 1] = { name, entry.problem[name] } end
    end
    return own
  end
end

-- Returns what an entry was measured for: "rows=8192,cols=8192 (warm)". `own` may have the part of the problem to show.
local function question(entry, own)
  return pairs_of(own or entry.problem) .. (entry.cache == "warm" and " (warm)" or "")
    .. (entry.objective == "energy" and " (energy)" or "") .. (get(entry, "after") and " (after " .. entry.after .. ")" or "")
end

-- Returns a path as a text, or as its bytes if it is not UTF-8.
local function path(p)
  if type(p) == "string" then return p end
  return (gsub(p.bytes, "%x%x", function(h) return string.char(tonumber(h, 16)) end))
end

-- Returns the description of the leaves below a node of a portfolio's tree if all have the same, otherwise nil.
-- `words` returns the description of a leaf.
local function chosen(tree, at, words)
  local node = tree[at + 1]
  if has(node, "order") then return words(node) end
  local yes = chosen(tree, node["then"], words)
  return yes and yes == chosen(tree, node["else"], words) and yes or nil
end

-- Returns the headers of a table from a text like "<name,time". '<' marks columns that are aligned to the left.
local function split_heads(heads)
  if type(heads) ~= "string" then return heads end
  local out = {}
  for head in string.gmatch(heads .. ",", "([^,]*),") do out[#out + 1] = head end
  return out
end

return function(page)
  local p = {
    clean = clean, width = width, pad_left = pad_left, pad_right = pad_right, pairs_of = pairs_of,
    path = path, get = get, stand_in = stand_in, list = list, question = question, in_common = in_common, chosen = chosen,
    split_heads = split_heads, page = page,
  }

  function p.ink(style, text)
    return page.colour and STYLES[style] .. text .. STOP or text
  end

  -- Returns a label and words beside it, wrapped to the page. `indent` is the width of the label's column.
  function p.wrapped(indent, label, words)
    return pad_right(label, indent) .. wrap(words, math.max(page.columns - indent, 1), indent) .. "\n"
  end

  -- Like p.wrapped(), but returns one line if the output is no terminal (is_wide), because other tools may search for the
  -- words.
  function p.said(indent, label, words)
    if get(page, "is_wide") then return pad_right(label, indent) .. words .. "\n" end
    return p.wrapped(indent, label, words)
  end

  -- Returns a command that the user can copy. A line that continues ends in a backslash. A list that is wider than the
  -- page is quoted and broken after commas.
  function p.command(indent, label, words)
    if get(page, "is_wide") then return pad_right(label, indent) .. words .. "\n" end
    local room, lines, line = math.max(page.columns - indent - 2, LEAST_WORDS), {}
    for word in string.gmatch(words, "%S+") do
      if width(word) > room then word = "'" .. wrap(word, room, indent) .. "'" end
      if line and width(line) + 1 + width(word) > room then
        lines[#lines + 1] = line .. " \\"
        line = nil
      end
      line = line and line .. " " .. word or word
    end
    lines[#lines + 1] = line
    return pad_right(label, indent) .. table.concat(lines, "\n" .. rep(" ", indent)) .. "\n"
  end

  -- Returns a message with indented lines. A very long message is cut, and a last line says how many lines are missing.
  function p.message(text, indent)
    local MOST, lines, count = 24, {}, 0
    indent = indent or 4
    for line in string.gmatch(sub(text, -1) == "\n" and text or text .. "\n", "([^\n]*)\n") do
      count = count + 1
      if count <= MOST then lines[count] = p.said(indent, "", clean(line)) end
    end
    if count > MOST then lines[MOST + 1] = rep(" ", indent) .. format("... and %d more lines (--json has them)\n", count - MOST) end
    return table.concat(lines)
  end

  -- Returns a line of source, with a caret below byte `column`, which may be nil. There is no caret after a ${...} of a
  -- template, because columns are those of the compiled text.
  function p.excerpt(indent, number, column, source)
    local before = column and column <= #source and sub(source, 1, column - 1) or "${"
    local gutter = rep(" ", indent) .. p.ink("dim", number .. " |") .. " "
    local text = gutter .. clean((gsub(source, "\t", " "))) .. "\n"
    if find(before, "${", 1, true) then return text end
    gutter = rep(" ", indent) .. p.ink("dim", rep(" ", #tostring(number)) .. " |") .. " "
    return text .. gutter .. rep(" ", width(before)) .. p.ink("warning", "^") .. "\n"
  end

  -- Returns the total width of the columns `from` to `last`, with the gaps before them.
  local function band_width(t, from, last)
    local sum = from > 1 and GAP + t.widths[1] or 0
    for c = from, last do sum = sum + GAP + t.widths[c] end
    return sum
  end

  -- Returns the index of the last column that fits on the page beside column `from`, at least `from` itself. If the table's
  -- last column is text that does not fit, also returns the width to which this text is wrapped.
  local function next_band(t, from)
    local count = #t.heads
    local last = math.min(from + (from == 1 and 1 or 0), count)
    while last < count and band_width(t, from, last + 1) <= page.columns do last = last + 1 end
    local left_out = last == count - 1 or band_width(t, from, last) > page.columns
    if last >= count - 1 and left_out and count > from and t.left[count]
       and band_width(t, from, count - 1) + LEAST_WORDS <= page.columns then
      return count, page.columns - band_width(t, from, count - 1) - GAP
    end
    return last
  end

  local function cell(t, c, text, is_last)
    if not t.left[c] then return rep(" ", GAP) .. pad_left(text, t.widths[c]) end
    return rep(" ", GAP) .. (is_last and text or pad_right(text, t.widths[c]))
  end

  local function row_text(t, from, last, word_columns, texts)
    local parts = {}
    if from > 1 then parts[1] = cell(t, 1, texts[1]) end
    for c = from, last do
      if word_columns and c == last then
        parts[#parts + 1] = rep(" ", GAP)
          .. wrap(texts[c] or "", word_columns, band_width(t, from, c - 1) + GAP)
      else
        parts[#parts + 1] = cell(t, c, texts[c] or "", c == last)
      end
    end
    return table.concat(parts)
  end

  local function band_text(t, from, last, word_columns, parts)
    local function put(style, text)
      parts[#parts + 1] = page.colour and style and STYLES[style] .. text .. STOP .. "\n" or text .. "\n"
    end
    put("bold", row_text(t, from, last, word_columns, t.heads))
    for _, row in ipairs(t.rows) do
      put(row.style, row_text(t, from, last, word_columns, row))
      if row.note and from == 1 then
        put("dim", rep(" ", NOTE_INDENT) .. wrap(row.note, math.max(page.columns - NOTE_INDENT, 1), NOTE_INDENT))
      end
    end
  end

  -- Lays out a table. Each row is a list of cells, which are texts or numbers. A row's `style` ("best", "dim") selects
  -- its colour, and its `note` is a line below it. On a narrow page, a last column of text is wrapped. Other columns
  -- that do not fit follow in a second table, which repeats the first column.
  local function layout(heads, rows)
    local t = { heads = {}, left = {}, widths = {}, rows = {} }
    for c, head in ipairs(split_heads(heads)) do
      t.left[c] = sub(head, 1, 1) == "<"
      t.heads[c] = clean(t.left[c] and sub(head, 2) or head)
      t.widths[c] = width(t.heads[c])
    end
    for r, row in ipairs(rows) do
      local texts = { style = row.style, note = row.note and clean(row.note) }
      for c = 1, #t.heads do
        texts[c] = clean(tostring(row[c] or ""))
        t.widths[c] = math.max(t.widths[c], width(texts[c]))
      end
      t.rows[r] = texts
    end
    return t
  end

  -- Returns whether the page has room for all columns side by side.
  function p.fits(heads, rows)
    local t = layout(heads, rows)
    return #t.heads < MOST_COLUMNS and band_width(t, 1, #t.heads) <= page.columns
  end

  function p.table(heads, rows)
    local t, parts, from = layout(heads, rows), {}, 1
    repeat
      if from > 1 then parts[#parts + 1] = "\n" end
      local last, word_columns = next_band(t, from)
      band_text(t, from, last, word_columns, parts)
      from = last + 1
    until from > #t.heads
    return table.concat(parts)
  end

  return p
end
