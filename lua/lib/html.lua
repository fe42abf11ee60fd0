-- Escapes a text for HTML.

local MEANING = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

return function(text)
  return (string.gsub(text, "[&<>\"']", MEANING))
end
