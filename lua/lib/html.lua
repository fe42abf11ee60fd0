-- Text in HTML: characters that have a meaning there are escaped.

local MEANING = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

return function(text)
  return (string.gsub(text, "[&<>\"']", MEANING))
end
