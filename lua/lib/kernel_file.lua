-- Completes the description of a kernel in a CUDA file: kernel = { source = "kernel.cu" }, or a comment in this file.
--
-- Fields that the pattern does not give are inferred: arguments, element types, inputs and outputs from the kernel's
-- type, which the compiler reports; names of parameters and defaults of macros from the file's text. One message asks
-- for everything that cannot be inferred. docs/kernel_files.md has the rules.

local host = ...

local check = host.own "check.lua"
local kernel = host.own "kernel.lua"
local captured = host.own "captured.lua"
local early = host.own "early.lua"
local arguments = host.own "kernel_arguments.lua"
local kernel_text = host.own "kernel_text.lua"
local macros = host.own "kernel_macros.lua"
local complete_problems = host.own("stand_ins.lua").complete
local definition = host.own("written.lua").definition
local fail, meant, KIND = check.fail, check.meant, check.KIND

local parse_c, is_empty, read_space = early.parse_c, early.is_empty, early.read_space
local helpers, evaluate, scope_of = early.helpers, early.evaluate, early.scope_of
local ask, tell, SCALARS = arguments.ask, arguments.tell, arguments.SCALARS

local kernel_file = {}

-- Options for NVRTC so that it compiles a file as nvcc does: functions without an annotation are host functions.
local OPTIONS = { "--pre-include=autotune_host.h", "--device-as-default-execution-space" }

-- value of macros and parameters without a value while the compiler reports the kernel's type
local SKETCHED = 8

-- Returns the kernels that the text of an entry may name: "scale", "ns::scale<64, float>", "(void (*)(float *))scale".
local function find_kernels(facts, entry)
  local plain = string.gsub(string.gsub(entry, "%b<>%s*$", ""), "%s+$", "")
  plain = string.match(plain, "([%w_:]+)$") or plain
  local list = {}
  for _, k in ipairs(facts.kernels) do
    if plain == k.name or plain == k.scope .. k.name then list[#list + 1] = k end
  end
  return list
end

-- Returns the entry with values in place of ${...}.
local function entry_in(entry, scope)
  return (string.gsub(entry, "%${(.-)}", function(e)
    local v = evaluate(e, scope)
    return tostring(v == nil and SKETCHED or v)
  end))
end

local function kernel_names(facts)
  local names, seen = {}, {}
  for _, k in ipairs(facts.kernels) do
    local name = k.scope .. k.name
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  return names
end

-- Returns all tables of a description that may have an entry and arguments.
local function launches_of(description)
  local list = {}
  local function add(one)
    if type(one) ~= "table" then return end
    if type(one.launches) ~= "table" then
      list[#list + 1] = one
      return
    end
    for _, inner in ipairs(one.launches) do add(inner) end
  end
  for _, one in ipairs(type(description.launches) == "table" and description.launches or {}) do add(one) end
  return list
end

-- Returns an example of an instance of a template. Its numbers are parameters of the space; its other arguments are the
-- template's defaults or common values.
local function example_instance(template)
  local parts = early.split(template, true)
  for i, one in ipairs(parts) do
    local default = string.match(one, "=%s*(.-)$")
    local head = string.gsub(string.gsub(one, "%s*=.*$", ""), "%f[%w_]const%f[^%w_]", "")
    local kind, own = string.match(head, "^%s*([%w_:]+)"), string.match(head, "([%w_]+)$")
    if kind == "class" or kind == "typename" then parts[i] = default or "float"
    elseif kind == "bool" then parts[i] = default or "false"
    elseif kind == "int" or kind == "unsigned" or kind == "size_t" or kind == "long" or string.find(kind or "", "int%d*_t$") then parts[i] = "${" .. own .. "}"
    else parts[i] = default or "(" .. (kind or "int") .. ")0" end
  end
  return "<" .. table.concat(parts, ", ") .. ">"
end

-- Refuses an entry that names a template without template arguments.
local function refuse_template(entry, found)
  for _, k in ipairs(found) do
    if k.template == "" or string.find(entry, "<", 1, true) then return end
  end
  host.fail_in(found[1].file, found[1].line, string.format(
    "%s is a template, template <%s>: name the instance, whose numbers may be parameters: kernel = { entry = \"%s\" }",
    found[1].name, found[1].template, entry .. example_instance(found[1].template)))
end

-- Refuses a kernel of which the file has only a prototype.
local function refuse_prototype(prototype, file)
  if not prototype then return end
  host.fail_in(prototype.file, prototype.line, string.format(
    "%s has no kernel '%s', only this prototype. Name the file that defines the kernel; if the launch is in %s, #include that file there",
    file, prototype.scope .. prototype.name, file))
end

-- Returns the entry that the pattern gives, or the name of the file's only kernel.
local function choose_entry(facts, given, file)
  if given.entry ~= nil then return check.string(given.entry, { "kernel", "entry" }, "the name of a kernel") end
  local names = kernel_names(facts)
  if #names == 1 then return names[1] end
  if #names == 0 then
    refuse_prototype(facts.prototypes[1], file)
    fail({ "kernel", "source" }, "%s has no kernel: no function that is __global__%s", file,
         facts.words.__global__ and "; kernels made by a macro or a class are not found: write the kernel out" or "")
  end
  fail({}, "%s has %d kernels; choose one: %s\n  the kernels are: %s", file, #names,
       string.format(host.sketches() and "--kernel %s" or "kernel = { entry = \"%s\" }", names[1]), table.concat(names, ", "))
end

-- Returns #define lines for the names.
local function definitions(defines, scope)
  local lines = {}
  for i, name in ipairs(defines) do
    local v = scope[name]
    lines[i] = definition(name, v == nil and 1 or v) .. "\n"
  end
  return table.concat(lines)
end

-- Refuses an entry that names several overloaded kernels. The message shows how to choose one of them.
local function refuse_overloads(file, entry, found)
  if #found < 2 or entry ~= found[1].name and entry ~= found[1].scope .. found[1].name then return end
  local casts, seen = {}, {}
  for _, k in ipairs(found) do
    local types = {}
    for i, p in ipairs(k.params) do
      types[i] = string.match(string.gsub(p.text, "%s+", " "), "^(.-)%s*%f[%w_]" .. p.name .. "$") or p.text
    end
    local cast = "(void (*)(" .. table.concat(types, ", ") .. ")) " .. entry
    if not seen[cast] then casts[#casts + 1] = "kernel = { entry = \"" .. cast .. "\" }" end
    seen[cast] = true
  end
  if #casts < 2 then return end
  host.fail_in(file, found[1].line, string.format("%d kernels are called %s; choose one:\n  %s", #casts, entry,
                                                  table.concat(casts, "\n  ", 1, math.min(#casts, 8))))
end

local function own_options(own)
  local options = early.copied(OPTIONS)
  for _, option in ipairs(type(own) == "table" and own or { own }) do options[#options + 1] = option end
  return options
end

-- Tells whether an undefined name may be a macro: it is not used as a function or a namespace.
local function may_be_macro(name)
  for _, text in ipairs(host.texts()) do
    if string.find(text, "%f[%w_]" .. name .. "%s*%(") or string.find(text, "%f[%w_]" .. name .. "%s*::") then return false end
  end
  return true
end

local OWN_HEADER, MOST_LINES, MOST_BYTES = "autotune_signature.h", 10, 900

-- Returns the message for a kernel that does not compile. An undefined name may belong to a missing header, or to the
-- file `includer`, which includes the kernel's file.
local function compile_message(log, missing, includer)
  local said = string.sub(string.match("\n" .. log, "\n([^\n]*error.*)") or log, 1, MOST_BYTES)
  local own = string.find(said, OWN_HEADER .. "(", 2, true) -- such errors follow from an error in the file
  said = string.match(string.sub(said, 1, own and own - 1), "^" .. string.rep("[^\n]*\n?", MOST_LINES))
  said = string.gsub(said, "\n+$", "")
  if string.find(said, OWN_HEADER, 1, true) == 1 then
    local line = kernel_text.open_brace(host.texts()[1])
    said = line and string.format("the brace that opens in line %d is never closed", line)
      or "the compiler finds no such kernel: an #if excludes it, a CUDA header has a function of its name, or the entry's arguments do not fit its template"
  end
  if missing then said = said .. "\nThese headers were not found and are left out; -I DIR names a folder that has them: " .. string.sub(missing, 1, 300) end
  if includer then said = said .. "\n" .. includer .. " includes this file and may define what is missing: give that file instead" end
  return "the kernel does not compile:\n" .. said
end

-- Refuses a kernel whose code launches kernels. The compiler may stop at other errors.
local function refuse_launch(file, kernels)
  for _, text in ipairs(host.texts(true)) do
    local plain, line = string.gsub(text, "/%*.-%*/", function(comment) return (string.gsub(comment, "[^\n]", "")) end), 0
    plain = string.gsub(plain, "//[^\n]*", "")
    local at = (string.find(plain, "__global__", 1, true) or string.find(plain, "__device__", 1, true)) and string.find(plain, "<<<", 1, true)
    for _, k in ipairs(at and kernels or {}) do
      local own = k.text == text and string.find(plain, "%f[%w_]" .. k.name .. "%s*%(")
      if own then file, line = k.file, k.line + select(2, string.gsub(string.sub(plain, own, at), "\n", "")) end
    end
    if at then
      local launched = string.match(string.gsub(string.sub(plain, 1, at - 1), "%b<>%s*$", ""), "([%a_][%w_]*)%s*$")
      local is_own = kernels[1] and launched == kernels[1].name
      host.fail_in(file, line, "this kernel launches " .. (is_own and "itself" or "another kernel") .. " from the device, which is not supported"
        .. (is_own and "" or ": tune the launched kernel alone, kernel = { entry = \"" .. (launched or "...") .. "\" }"))
    end
  end
end

-- Asks the compiler for the kernel's type. If a name of the pattern is undefined in the file, it is a macro and is
-- added to `defines`.
local function ask_signature(entry, roots, defines, scope, file, facts, own)
  local options = {}
  local is_device = false -- true only by an option of the pattern: nvcc's default is host functions
  for i, option in ipairs(own_options(own)) do
    options[i] = type(option) == "string" and entry_in(option, scope) or ""
    is_device = is_device or i > #OPTIONS and (string.find(options[i], "^%-%-?default%-device$")
                                               or string.find(options[i], "^%-%-?device%-as%-default%-execution%-space$")) ~= nil
  end
  while true do
    host.cut_kernel(roots, defines, is_device)
    local signature, log, missing, includer = host.kernel_signature(entry_in(entry, scope), definitions(defines, scope), options)
    if signature then return signature end
    local grew, undefined, is_listed = false, {}, {}
    for name in string.gmatch(log, 'identifier "([^"\n]+)" is undefined') do
      if not is_listed[name] then undefined[#undefined + 1], is_listed[name] = name, true end
    end
    for _, name in ipairs(undefined) do
      local known = false
      for _, d in ipairs(defines) do known = known or d == name end
      local sketches = host.sketches() and not string.find(name, "^__") and may_be_macro(name)
      if not known and not helpers[name] and (scope[name] ~= nil or sketches) then
        defines[#defines + 1], grew = name, true
        if scope[name] == nil then scope[name] = kernel_text.is_type_like(name) and "float" or SKETCHED end
      end
    end
    if not grew then
      local message, meant_by = compile_message(log, missing, includer), find_kernels(facts, entry)
      refuse_launch(file, meant_by)
      refuse_overloads(file, entry, meant_by)
      if string.find(entry, "(lambda at ", 1, true) then
        message = "the host launches " .. entry .. ": a lambda has no name, so nothing else can launch this instance. Write a struct with operator() in place of the lambda"
      elseif host.sketches() and meant_by[1] and meant_by[1].template ~= "" then
        message = message .. "\nTried was " .. entry .. " of template <" .. string.gsub(meant_by[1].template, "%s+", " ")
          .. ">: --kernel \"" .. meant_by[1].scope .. meant_by[1].name .. "<...>\" says another"
      end
      for i = #undefined, 1, -1 do
        if #find_kernels(facts, undefined[i]) > 0 then table.remove(undefined, i) end
      end
      local more = #undefined > 10 and ", ..." or ""
      host.fail_in(file, 0, message .. (#undefined == 0 and "" or
        "\nNothing defines " .. table.concat(undefined, ", ", 1, math.min(#undefined, 10)) .. more
        .. ". The host code of the file is not compiled. Correct a misspelt name, or give a macro a value in space "
          .. "or problem"))
    end
  end
end

-- Returns the kernel in the file's text that has as many parameters as the compiler reports.
local function match_kernel(facts, entry, signature)
  local found
  for _, k in ipairs(find_kernels(facts, entry)) do
    for _, p in ipairs(k.params) do p.text = string.gsub(p.text, "%s+", " ") end
    if #k.params == #signature then return k end
    found = k
  end
  if found then
    fail({ "kernel", "entry" }, "%s has %d parameters for the compiler, but %d in the text (%s:%d), where macros "
      .. "are not expanded; give the arguments in order, kernel = { args = { ... } }", entry,
         #signature, #found.params, found.file, found.line)
  end
end

-- Renames parameters whose names scripts cannot use: `in` becomes in_, `min` becomes min_.
local function rename_reserved(params)
  for _, p in ipairs(params) do
    local fits = not host.is_helper(p.name) and p.name ~= "include" and host.load("local " .. p.name, "=name")
    if p.name ~= "" and not fits then p.name = p.name .. "_" end
  end
end

-- Returns the expression with the baseline's values in place of parameters, for a value that all variants share.
local function at_baseline(e, baseline, derived, depth)
  return (string.gsub(e, "%.?%f[%w_][%a_][%w_]*", function(name)
    local own, v = derived[name], baseline[name]
    if type(own) == "string" and depth < 8 then return "(" .. at_baseline(own, baseline, derived, depth + 1) .. ")" end
    if own ~= nil or v == nil then return nil end
    return type(v) == "string" and string.format("%q", v) or tostring(v)
  end))
end

-- Infers `traffic` if the pattern has no field for the work: each input is read once, and each output is written once.
-- If sizes depend on the layout, uses the baseline's sizes.
local function complete_work(description, baseline)
  if description.traffic ~= nil or description.flops ~= nil or description.items ~= nil then return end
  local terms = {}
  for _, name in ipairs(check.ordered_keys(description.buffers, { "buffers" })) do
    local b = description.buffers[name]
    if type(b) ~= "table" or b.count == nil or b.dtype == nil then return end
    local times = b[KIND] == "inout" and 2 or b[KIND] == "scratch" and 0 or 1
    if times > 0 then
      local quoted = SCALARS[b.dtype] and string.format("%q", b.dtype) or b.dtype
      terms[#terms + 1] = (times == 2 and "2 * " or "") .. "(" .. tostring(b.count) .. ") * sizeof(" .. quoted .. ")"
    end
  end
  if #terms > 0 then
    description.traffic = at_baseline(table.concat(terms, " + "), baseline, early.derived_of(description), 1)
  end
end

-- Lets several parameters share a buffer if every launch in the file passes the same variable for them, and the pattern
-- gives no buffers for them. The buffer has the name of a parameter through which the kernel may write.
local function share_buffers(description, request, found, signature, named)
  local launches = host.launches(found.name)
  local owner, texts = {}, {}
  for k, launch in ipairs(launches) do
    for i, text in ipairs(early.split((string.gsub(launch.arguments, "//[^\n]*", "")))) do
      texts[i] = texts[i] or {}
      texts[i][k] = text ~= "nullptr" and text ~= "NULL" and string.match(text, "^[%a_][%w_%.]*$") or nil
    end
  end
  local function is_same(i, j)
    for k = 1, #launches do
      if not texts[i] or not texts[j] or not texts[i][k] or texts[i][k] ~= texts[j][k] then return false end
    end
    return #launches > 0
  end
  for i, a in ipairs(signature) do
    for j = 1, i - 1 do
      local same = a.pointer and signature[j].pointer and not owner[j] and is_same(j, i)
      if same then owner[i] = j end
    end
  end
  for i, j in pairs(owner) do
    local kept, other = found.params[j].name, found.params[i].name
    if signature[j].const and not signature[i].const then kept, other = other, kept end
    if named[other] == nil and named[kept] == nil and description.buffers[other] == nil then
      local sizes = description.sizes or {}
      if sizes[kept] == nil then sizes[kept] = sizes[other] end
      named[other] = kept
      for k = #(description.outputs or {}), 1, -1 do -- a shared buffer is also read
        if description.outputs[k] == kept or description.outputs[k] == other then table.remove(description.outputs, k) end
      end
    end
  end
end

-- Checks that each name in `given` (keys, or values of a list) is a parameter of the kernel or a variable in
-- `constants`.
local function check_names(given, path, params, constants)
  local known = {}
  for _, p in ipairs(params) do known[#known + 1] = p.name end
  for name in pairs(constants or {}) do known[#known + 1] = name end
  for key, v in pairs(given or {}) do
    local name = math.type(key) and v or key
    local found = false
    for _, k in ipairs(known) do found = found or k == name end
    if not found then
      fail(check.child(path, key), "the kernel has no parameter %s%s", check.show(name), meant(tostring(name), known))
    end
  end
end

-- Tells whether a value in the table, at any depth, is `text`.
local function mentions(t, text, depth)
  local found = t == text
  if type(t) ~= "table" or depth > 8 then return found end
  for _, v in pairs(t) do found = found or mentions(v, text, depth + 1) end
  return found
end

-- Checks that each buffer is a parameter of the kernel or is named elsewhere in the description.
local function check_buffers(description, params)
  local names = {}
  for _, p in ipairs(params) do names[p.name] = true end
  for name in pairs(description.buffers) do
    local used = type(name) ~= "string" or names[name] or mentions(description.transfer, name, 1)
    for _, field in ipairs { "kernel", "launches", "reference", "prepare" } do
      used = used or mentions(description[field], name, 1)
    end
    if not used then check_names({ [name] = true }, { "buffers" }, params, description.kernel.constants) end
  end
end

-- A space that is a product of lists may have blocks with too many threads. A constraint excludes these.
local MOST_THREADS = 1024

local function bound_blocks(description, candidates)
  local fields = {}
  local bounds = #candidates == 1 and string.match(candidates[1].text, "__launch_bounds__%s*%(%s*(%d+)%s*[,)]")
  local most_threads = math.min(tonumber(bounds) or MOST_THREADS, MOST_THREADS)
  if description.where ~= nil and type(description.where) ~= "string" and type(description.where) ~= "table" then return end
  local where, values = early.where_of(description), read_space(description.space)
  local most = early.with_problem({}, description)
  for name, list in pairs(values) do
    for _, v in ipairs(list) do
      if type(v) == "number" then most[name] = math.max(most[name] or v, v) end
    end
  end
  local function bound(launch, ...)
    local sides, varies = {}, false
    for _, e in ipairs(type(launch.block) == "table" and launch.block or { launch.block }) do
      e = tostring(e)
      sides[#sides + 1] = string.find(e, "^[%w_]+$") and e or "(" .. e .. ")"
      for name in early.names_in(e) do varies = varies or values[name] ~= nil end
    end
    local product = table.concat(sides, " * ")
    local v = evaluate(product, scope_of(most, early.derived_of(description)))
    if varies and not (type(v) == "number" and v <= most_threads) then
      where[#where + 1] = product .. " <= " .. most_threads
      fields[#where] = { ... }
    end
  end
  if type(description.launch) == "table" then bound(description.launch, "launch", "block") end
  for _, one in ipairs(launches_of(description)) do bound(one, "launches") end
  description.where, description.where_from = #where > 0 and where or nil, fields
end

local function stem_of(file)
  local stem = string.gsub(string.match(file, "([^/]*)$"), "%.%w*$", "")
  stem = string.gsub(stem, "[^%w_]", "_")
  return string.sub(string.find(stem, "^%d") and "_" .. stem or stem, 1, 60)
end

-- Refuses fields and options that only kernels in files have, in a pattern with another kernel.
local function refuse_fields(description)
  if captured.launch() then
    fail({ "kernel" }, "--captured needs a kernel in a file of its own: kernel = { source = \"FILE.cu\" }")
  end
  for _, field in ipairs { "sizes", "outputs" } do
    if description[field] ~= nil then
      fail({ field }, " needs a kernel in a file of its own, kernel = { source = \"FILE.cu\" }; with a template, use "
        .. "buffers instead")
    end
  end
end

-- Returns the first macro of each name. Its field `others` lists later macros of this name: conditions (#if) are not
-- evaluated, so any of these macros may be the right one.
local function by_name(list)
  local macros_of = {}
  for _, m in ipairs(list) do
    local first = macros_of[m.name]
    if first then
      first.others = first.others or {}
      first.others[#first.others + 1] = m
    else
      macros_of[m.name] = m
    end
  end
  return macros_of
end

-- Opens the kernel's file. Returns its name, and facts about its text.
local function open_file(given)
  local file = check.string(given.source, { "kernel", "source" }, "source = \"kernel.cu\"")
  if given.template ~= nil then fail({ "kernel", "template" }, " must not stand beside source; write one of the two") end
  local facts, why = host.open_kernel(file, { includes = check.includes(given.include, { "kernel", "include" }) })
  if not facts then
    fail({ "kernel", "source" }, "there is no file '%s' %s", file, why)
  end
  facts.macros = by_name(facts.macros)
  return file, facts
end

-- Creates the optional fields that are missing, as tables. Returns which fields were given.
local function complete_fields(description, file)
  if type(description.outputs) == "string" then description.outputs = { description.outputs } end
  for field, example in pairs { sizes = "x = \"n\"", outputs = "\"y\"" } do
    if description[field] ~= nil then check.table(description[field], { field }, field .. " = { " .. example .. " }") end
  end
  local had = {}
  for _, field in ipairs { "problem", "buffers", "sizes" } do had[field] = description[field] ~= nil end
  if description.name == nil then description.name = stem_of(file) end
  if description.problem == nil then description.problem = {} end
  if description.buffers == nil then description.buffers = {} end
  for _, field in ipairs { "problem", "buffers" } do check.table(description[field], { field }, field .. " = { ... }") end
  return had
end

-- Returns the launched kernels as { of, entry, path }: the table with the kernel's arguments, the kernel's name, and
-- the path of the field that has this name.
local function find_targets(description, given, facts, file)
  local launched = launches_of(description)
  local has_all = #launched > 0
  for _, one in ipairs(launched) do has_all = has_all and one.entry ~= nil end
  local targets = {}
  if not has_all then
    given.entry = choose_entry(facts, given, file)
    targets[1] = { of = given, entry = given.entry, path = { "kernel", "entry" } }
  end
  for i, one in ipairs(launched) do
    if one.entry ~= nil then
      targets[#targets + 1] = { of = one, path = { "launches", i },
                                entry = check.string(one.entry, { "launches", i, "entry" }, "the name of a kernel") }
    end
  end
  return targets
end

-- Returns the kernels of the file that may be launched, and texts whose names decide which code is compiled: entries,
-- and the texts among the parameters' values, because an entry may be "reduce<${OP}>" with OP = { "Sum", "Max" }.
local function find_candidates(facts, file, targets, values)
  local candidates, roots = {}, {}
  for _, target in ipairs(targets) do
    local found = find_kernels(facts, target.entry)
    if #found == 0 then
      refuse_prototype(find_kernels({ kernels = facts.prototypes }, target.entry)[1], file)
      local names = kernel_names(facts)
      local sought = string.gsub(target.entry, "<>$", "")
      local nearest = meant(sought, names)
      fail(host.sketches() and {} or target.path, "%s has no kernel '%s'%s there are: %s", file, sought,
           nearest == "" and ";" or nearest, table.concat(names, ", "))
    end
    refuse_template(target.entry, found)
    for _, k in ipairs(found) do candidates[#candidates + 1] = k end
    roots[#roots + 1] = string.gsub(target.entry, "[${}]", " ")
    roots[#roots + 1] = found[1].name
  end
  for _, list in pairs(values) do
    for _, v in ipairs(list) do
      if type(v) == "string" then roots[#roots + 1] = v end
    end
  end
  return candidates, roots
end

local function check_values(values)
  for name, list in pairs(values) do
    for _, v in ipairs(list) do
      if type(v) == "function" or type(v) == "table" then
        fail({ "space", name }, " has %s among its values; values are numbers, strings and booleans", check.show(v))
      end
    end
  end
end

-- Fails with a message that contains a pattern to start from.
local function sketch(description, given, facts, file)
  local entry = choose_entry(facts, given, file)
  local found = find_candidates(facts, file, { { entry = string.gsub(entry, "%b<>$", "") .. "<>", path = { "kernel", "entry" } } }, {})[1]
  local function compile(name, defines)
    local roots = { string.gsub(name, "[${}]", " ") .. "", found.name }
    local signature = ask_signature(name, roots, defines, scope_of({}, {}), file, facts, given.options)
    local params = match_kernel(facts, name, signature).params
    rename_reserved(params)
    return signature, params
  end
  local write = host.own "kernel_sketch.lua"
  host.sketch(write(entry, found, kernel_names(facts), facts, example_instance, compile))
end

--- Completes a description whose kernel is in a file. Does nothing to other descriptions.
function kernel_file.complete(description)
  local given = description.kernel
  if type(given) ~= "table" or given.source == nil then
    refuse_fields(description)
    return
  end
  local file, facts = open_file(given)
  local had = complete_fields(description, file)
  if host.sketches() then sketch(description, given, facts, file) end
  local targets = find_targets(description, given, facts, file)
  local values, space_names = read_space(description.space)
  check_values(values)
  local candidates, roots = find_candidates(facts, file, targets, values)
  local request = arguments.new_request()
  local launch = captured.launch()
  if description.launch == nil and description.launches == nil then
    ask(request, "launch", "grid = \"ceil_div(n, BLOCK)\", block = \"BLOCK\"",
        launch and "the program launched " .. captured.show(launch) or "how many blocks, of how many threads")
  end
  bound_blocks(description, candidates)
  macros.choose_definitions(facts, description, values)
  macros.refuse_misspelt(facts, space_names)
  local parameters = {}
  for _, k in ipairs(candidates) do
    for _, p in ipairs(k.params) do parameters[p.name] = true end
  end
  host.cut_kernel(roots, {}, false)
  local defines = macros.find_defines(description, facts, kernel_text.template_words(), space_names, parameters)
  macros.complete_derived(description, facts, values)
  local baseline = macros.complete_baseline(description, facts, values, space_names)
  local known = early.with_problem(baseline, description)
  local derived = early.derived_of(description)
  local scope = scope_of(known, derived)
  local named = {}
  for key, v in pairs(type(given.args) == "table" and given.args or {}) do
    if type(key) == "string" then named[key] = v end
  end
  local named_only = given.args ~= nil and not is_empty(named)
  if named_only then given.args = nil end
  local params, whole = {}, nil
  for _, target in ipairs(targets) do
    local signature = ask_signature(target.entry, roots, defines, scope, file, facts, given.options)
    local found = match_kernel(facts, target.entry, signature)
    rename_reserved(found.params)
    for _, p in ipairs(found.params) do params[#params + 1] = p end
    whole = whole or found
    if launch and target == targets[1] then
      captured.complete(description, launch, target.entry, signature, found.params, named, known,
                        function(e) return evaluate(e, scope_of(known, derived)) end)
      captured.complete_constants(description, given, launch)
    end
    if not launch then share_buffers(description, request, found, signature, named) end
    if type(target.of.args) ~= "table" then
      target.of.args = arguments.infer(description, request, signature, found.params, named,
                                       function(name) return known[name] ~= nil or derived[name] ~= nil end)
    end
    if #request.order == 0 then arguments.check(description, signature, found.params, target.of.args) end
  end
  if not launch then
    macros.complete_constants(description, request, given, facts, file)
    macros.complete_derived(description, facts, values) -- again, for counts of the file's variables
  end
  check_names(description.sizes, { "sizes" }, params, given.constants)
  check_names(description.outputs, { "outputs" }, params, given.constants)
  check_buffers(description, params)
  check_names(named, { "kernel", "args" }, params)
  tell(request, had, "the kernel " .. targets[1].entry .. " (" .. whole.file .. ":" .. whole.line .. ")")
  complete_work(description, baseline)
  if launch then
    description.simulated, description.ragged = nil, false
  else
    complete_problems(description, baseline)
  end
  given.options = own_options(given.options)
  given[kernel.DEFINES] = defines
  description.sizes, description.outputs = nil, nil
end

return kernel_file
