-- Formats a page of docs/ as text for a terminal.
--
--   local markdown = require "lib.markdown"
--   markdown(text, p)
--
-- `p` is the result of lib.page. Paragraphs, list items and tables are wrapped to the page; code stays as it is.

local MOST_COLUMNS, GAP, LEAST_COLUMN, MOST_PARAGRAPH_LINE = 8, 2, 8, 1024

local find, match, rep, sub = string.find, string.match, string.rep, string.sub

-- Returns the cells of a row "| a | b |". Cells may contain bars: only a bar after a blank ends a cell.
local function cells_of(row)
  local cells, at = {}, 2
  while at <= #row and #cells < MOST_COLUMNS do
    at = find(row, "[^ ]", at) or #row + 1
    local stop = sub(row, at, at) == "|" and at or find(row, " |", at, true)
    cells[#cells + 1] = sub(row, at, (stop or #row + 1) - 1)
    at = stop and find(row, "|", stop, true) + 1 or #row + 1
  end
  return cells
end

-- Narrows the widest columns until all columns fit on the page.
local function fit(widths, columns)
  while true do
    local sum, widest = GAP * (#widths - 1), 1
    for i, width in ipairs(widths) do
      sum = sum + width
      if width > widths[widest] then widest = i end
    end
    if sum <= columns or widths[widest] <= LEAST_COLUMN then return end
    widths[widest] = widths[widest] - 1
  end
end

-- Returns how many bytes of the text fit into a line of `width`. The line ends at a blank if possible.
local function cut_line(text, width)
  if #text <= width then return #text end
  for at = width, 1, -1 do
    if sub(text, at + 1, at + 1) == " " then return at end
  end
  return width
end

-- Returns the text of a row; each cell is wrapped to its column.
local function row_text(cells, widths)
  local lines, more = {}, #cells > 0
  while more do
    local line, blanks = "", 0
    more = false
    for i, cell in ipairs(cells) do
      local length = cut_line(cell, widths[i])
      if length > 0 then
        line = line .. rep(" ", blanks) .. sub(cell, 1, length)
        blanks = 0
      end
      blanks = blanks + widths[i] - length + GAP
      cells[i] = match(cell, "^ *(.*)$", length + 1)
      more = more or cells[i] ~= ""
    end
    lines[#lines + 1] = line .. "\n"
  end
  return table.concat(lines)
end

local function table_text(lines, columns)
  local rows, widths, parts, rule = {}, {}, {}, {}
  for _, line in ipairs(lines) do
    if find(line, "[^| %-]") then
      local cells = cells_of(line)
      rows[#rows + 1] = cells
      for i, cell in ipairs(cells) do widths[i] = math.max(widths[i] or 0, #cell) end
    end
  end
  if #widths > 0 then fit(widths, columns) end
  for i, width in ipairs(widths) do rule[i] = rep("-", width) end
  for i, cells in ipairs(rows) do
    parts[#parts + 1] = row_text(cells, widths)
    if i == 1 then parts[2] = table.concat(rule, rep(" ", GAP)) .. "\n" end
  end
  return table.concat(parts)
end

-- Returns the mark that begins an item of a list, "- " or "1. "; "" for other lines.
local function mark_of(line) return match(line, "^%- ") or match(line, "^%d+%. ") or "" end

-- Returns whether the line continues the paragraph or the item that begins with `mark`.
local function continues(line, mark)
  local blanks = #match(line, "^ *")
  return #line > blanks and not find(line, "^[|#]") and not find(line, "^```") and mark_of(line) == ""
    and (blanks == 0 or mark ~= "" and blanks == #mark)
end

return function(text, p)
  local lines, parts, at, is_code = {}, {}, 1, false
  for line in string.gmatch(text, "([^\n]*)\n") do lines[#lines + 1] = line end
  while at <= #lines do
    local line = lines[at]
    at = at + 1
    if find(line, "^```") then is_code = not is_code end
    if not is_code and find(line, "^|") then
      local rows = { line }
      while lines[at] and find(lines[at], "^|") do
        rows[#rows + 1] = lines[at]
        at = at + 1
      end
      parts[#parts + 1] = table_text(rows, p.page.columns)
    elseif not is_code and not find(line, "^[ #]") and not find(line, "^```") and line ~= "" and #line < MOST_PARAGRAPH_LINE then
      local mark = mark_of(line)
      local words = { match(line, "^ *(.*)$", #mark + 1) }
      while lines[at] and continues(lines[at], mark) do
        words[#words + 1] = match(lines[at], "^ *(.*)$")
        at = at + 1
      end
      parts[#parts + 1] = p.wrapped(#mark, mark, table.concat(words, " "))
    else
      parts[#parts + 1] = line .. "\n"
    end
  end
  return table.concat(parts)
end
