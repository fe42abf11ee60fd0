-- check(patterns): refuses patterns whose headers would define the same name. For example, the word "b_c" of pattern
-- "a" and the word "c" of pattern "a_b" would have the same name.

local c = require "lib.c_text"

local OWN = {
  "address", "at", "buffers", "choice", "config", "count", "default", "distance", "entry", "evaluate", "fill",
  "find", "fits", "kernel", "launch", "place", "plan", "problem", "run", "same", "slower",
}

return function(patterns)
  local owner, clash = {}, nil
  local function add(p, name)
    if owner[name] and owner[name] ~= p and (not clash or name < clash.name) then
      clash = { name = name, first = owner[name], second = p }
    end
    owner[name] = owner[name] or p
  end
  for _, p in ipairs(patterns) do
    for _, name in ipairs(OWN) do add(p, "autotune_" .. p.name .. "_" .. name) end
    for _, columns in ipairs { p.variables, p.parameters } do
      for _, column in ipairs(columns) do
        if not column.c_type then
          add(p, c.type(p, column))
          add(p, c.type(p, column) .. "_name")
          for _, word in ipairs(column.words) do add(p, c.constant(p, column, word)) end
        end
      end
    end
  end
  if clash then
    refuse("'" .. clash.first.name .. "' and '" .. clash.second.name .. "' would both define " .. clash.name
      .. ": they cannot share a program")
  end
end
