-- The kernel of a T1 file (t1.lua) as its source has it: which of the file's arguments it takes, and what of
-- the file nothing reads.

local host = ...

local check = host.own "check.lua"
local members = host.own "t1_members.lua"
local fail, warn, needed = members.fail, members.warn, members.needed

-- The kernel's file in facts: { kernels, words }; nothing for a template, which is text of another kind.
local function read_file(node, is_template, includes)
  local facts, why = {}, nil
  if is_template then
    local text
    text, why = host.read_template(node.value)
    facts = text and { kernels = {}, words = {} }
  else
    facts, why = host.open_kernel(node.value, { includes = check.includes(includes, { "kernel", "include" }) })
  end
  if not facts then fail(node, "there is no file %s in this file's folder%s", check.show(node.value), why or "") end
  return facts
end

-- The kernel that the entry names: "scale", "ns::scale", "ns::scale<64>".
local function find_kernel(facts, node, file)
  local plain = string.gsub(string.match(node.value, "^[^<]*"), "%s", "")
  local names = {}
  for i, k in ipairs(facts.kernels) do
    names[i] = k.scope .. k.name
    if plain == k.name or plain == k.scope .. k.name then return k end
  end
  fail(node, "%s has no kernel %s%s%s", file, check.show(node.value), check.meant(plain, names),
       #names > 0 and "; there are: " .. table.concat(names, ", ") or "")
end

-- Constant memory that has a symbol is no argument; that of Kernel Tuner is one unless the kernel takes that
-- many less.
local function passed(list, count)
  local constants, args = 0, {}
  for _, argument in ipairs(list) do constants = constants + (argument.in_constant and 1 or 0) end
  for _, argument in ipairs(list) do
    local is_left_out = argument.is_symbol or argument.in_constant and count == #list - constants
    if not is_left_out then args[#args + 1] = argument end
  end
  return args
end

--- Is the file a template, not CUDA C++?
local function is_template(file)
  return string.find(file, "%.tmpl$") ~= nil
end

--- The arguments that the kernel takes, of those of the file. Warns of parameters that nothing reads.
local function read(kernel, spec, list, includes)
  local file = needed(kernel, "KernelFile", "string", "KernelSpecification")
  local name = needed(kernel, "KernelName", "string", "KernelSpecification")
  local facts = read_file(file, is_template(file.value), includes)
  if is_template(file.value) then return passed(list, #list) end
  local k = find_kernel(facts, name, file.value)
  for _, p in ipairs(spec.parameters) do
    if not facts.words[p.name] and not spec.read[p.name] then
      warn(p.node, "neither %s nor the launch reads the tuning parameter %s", file.value, p.name)
    end
  end
  return passed(list, #k.params)
end

return { read = read, is_template = is_template }
