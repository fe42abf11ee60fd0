-- Parses the host code of a kernel's file. Hides how names are handled that neither the file nor toolkit.h declares, such
-- as those of headers that are not here: each is declared as what the file uses it for, a function, a type, a namespace
-- or a value of any type, and the file is parsed again. Otherwise its statements would be missing from the tree.

local host = ...

local MOST_PASSES = 12

-- Clang's messages, as patterns with the name and perhaps its namespace, and the declaration if the message tells it.
local MESSAGES = {
  { "^use of undeclared identifier '([%a_][%w_]*)'" },
  { "^unknown type name '([%a_][%w_]*)'", "AUTOTUNE_TYPE" },
  { "^no member named '([%a_][%w_]*)' in namespace '([%a_][%w_:]*)'" },
  { "^no type named '([%a_][%w_]*)' in namespace '([%a_][%w_:]*)'", "AUTOTUNE_TYPE" },
  { "^no template named '([%a_][%w_]*)' in namespace '([%a_][%w_:]*)'", "AUTOTUNE_TEMPLATE" },
  { "^no template named '([%a_][%w_]*)'", "AUTOTUNE_TEMPLATE" },
}

-- Tells what the file uses a name for, from the text before and behind it.
local function use_of(before, after)
  if string.find(after, "^%s*::") then return "namespace" end
  if string.find(after, "^%s*%b<>%s*%(") or string.find(after, "^%s*%(") then return "AUTOTUNE_FUNCTION" end
  if string.find(after, "^%s*<[^<=]") then return "AUTOTUNE_TEMPLATE" end
  local begins = string.find(before, "[;{}]%s*$") or string.find(before, "%f[%w_]const%s*$")
  return begins and string.find(after, "^[%s*&]+[%a_]") and "AUTOTUNE_TYPE" or "AUTOTUNE_VALUE"
end

-- Returns the declaration of a name that an error calls unknown, or nil.
local function declaration(e)
  for _, message in ipairs(MESSAGES) do
    local name, within = string.match(e.text, message[1])
    if name then
      local use = message[2] or use_of(e.before, string.match(e.after, "^" .. name .. "(.*)$") or "(")
      local text = use == "namespace" and "namespace " .. name .. " {}" or use .. "(" .. name .. ")"
      return within and "namespace " .. within .. " { " .. text .. " }" or text
    end
  end
end

--- Parses the file.
return function()
  local text, is_declared = "", {}
  for _ = 1, MOST_PASSES do
    local before = text
    for _, e in ipairs(host.syntax_errors(text)) do
      local one = declaration(e)
      if one and not is_declared[one] then text, is_declared[one] = text .. one .. "\n", true end
    end
    if text == before then return end
  end
end
