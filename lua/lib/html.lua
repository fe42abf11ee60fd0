-- Text in HTML: escapes the characters that have a meaning there.

local MEANING = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

return function(text)
  return (string.gsub(text, "[&<>\"']", MEANING))
end
