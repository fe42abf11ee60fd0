-- Formats text for manual pages.

local roff = {}

-- Escapes a text so that no part of it is a request to roff.
function roff.text(text)
  text = string.gsub(text, "[\\-]", { ["\\"] = "\\e", ["-"] = "\\-" })
  return (string.gsub(string.gsub("\n" .. text, "\n([.'])", "\n\\&%1"), "^\n", ""))
end

-- Returns paragraphs with their lines joined; indented paragraphs keep their lines.
function roff.paragraphs(text)
  local lines, as_is = {}, false
  for line in string.gmatch(text, "([^\n]*)\n?") do
    local indented = string.sub(line, 1, 1) == " "
    if line ~= "" and indented ~= as_is then
      lines[#lines + 1] = indented and ".nf" or ".fi"
      as_is = indented
    end
    lines[#lines + 1] = line == "" and (as_is and "" or ".PP") or roff.text(line)
  end
  while lines[#lines] == ".PP" or lines[#lines] == "" do lines[#lines] = nil end
  if as_is then lines[#lines + 1] = ".fi" end
  return table.concat(lines, "\n")
end

return roff
