-- Writes the comment that describes a first pattern for a kernel in a file. The comment has the values with which the
-- file's host code launches the kernel, and beside each value its place in the file. A value that the file does not
-- determine becomes a question, at.ask, which the user has to answer before tuning.

local host = ...

local check = host.own "check.lua"
local early = host.own "early.lua"
local code = host.own "host_code.lua"
local syntax = host.own "host_syntax.lua"
local values = host.own "host_values.lua"
local arguments = host.own "kernel_arguments.lua"
local expressions = host.own "kernel_expressions.lua"
local kernel_text = host.own "kernel_text.lua"
local helpers, parse_c = early.helpers, early.parse_c
local is_number, is_plain, same = values.is_number, values.is_plain, values.same
local quoted, ask, remark, number_text, source_of, why, question =
  expressions.quoted, expressions.ask, expressions.remark, expressions.number_text, expressions.source_of, expressions.why, expressions.question
local walk, find, without_casts, rounded_up, divided =
  expressions.walk, expressions.find, expressions.without_casts, expressions.rounded_up, expressions.divided

local C_TYPES = arguments.C_TYPES
local SIDES = { "_X", "_Y", "_Z" }
local MOST_THREADS = 1024 -- of a block

-- Returns values to try around the number `v` of the file. 0 is among them only if `v` is 0, because the kernel may
-- divide by the number.
local function values_around(v, most)
  if v == 0 then return "{ 0, 1 }" end
  if helpers.is_pow2(v) then return "at.pow2(" .. math.max(1, v // 4) .. ", " .. math.max(v, math.min(v * 4, most or MOST_THREADS)) .. ")" end
  return "{ " .. math.max(1, v // 2) .. ", " .. v .. ", " .. 2 * v .. " }"
end

-- Returns whether other sides of the block fit the rest of the launch: the host computes the grid from the block's side `v`,
-- or from a number that equals it, or the kernel strides over its data by `words`.
local function is_free(launch, v, steps, words)
  local own, found, n = {}, false, v.n
  for _, word in ipairs(words) do found = found or steps[word] ~= nil end
  while v.of do own[v], v = true, v.of end
  own[v] = true
  for i = 1, 3 do
    walk(launch.grid[i], function(x)
      found = found or own[x] or v.macro and x.macro == v.macro or not v.macro and n and n > 1 and is_plain(x) and (x.n == n or x.n == n - 1)
      return true
    end)
  end
  return found
end

-- ---- the instance ----

-- Returns the template arguments of the launch as texts, the numbers that become parameters, the host's values of
-- these, and all whole numbers among the arguments, each { i, own, n, v }.
local function instance(launch, template, shapes, in_data, of_data, steps)
  local decl, numbers = launch and launch.decl, {}
  local names = early.split(template, true)
  local given = decl and decl.printed and string.match(decl.printed, "%f[%w_]" .. decl.name .. "%s*(%b<>)")
  local parts = given and early.split(string.sub(given, 2, -2), true)
  if not parts then return nil, numbers end
  local position, count, sources, whole = {}, 0, {}, {} -- position and count of the parameters that are no types
  for _, head in ipairs(names) do
    if not string.find(head, "^%s*typename") and not string.find(head, "^%s*class") and not string.find(head, "^%s*template") then
      count = count + 1
      position[head] = count
    end
  end
  for i, head in ipairs(#names == #parts and names or {}) do
    local own = string.match(string.gsub(head, "%s*=.*$", ""), "([%w_]+)$") or ""
    local kind = string.match(string.gsub(head, "%f[%w_]const%f[^%w_]", ""), "^%s*(.-)%s+" .. own) or ""
    local n = math.tointeger(tonumber((string.gsub(parts[i], "[uUlL]+$", ""))))
    if string.find(C_TYPES[kind] or "", "int") and n then
      local v = count == #launch.instance and launch.instance[position[head]]
      whole[#whole + 1] = { i = i, own = own, n = n, v = v and (v.name or v.macro) and v or nil, is_computed = v and v.op and not v.name }
    end
  end
  for _ = 1, 2 do -- again for those before the parameter that they follow
    for _, one in ipairs(whole) do
      local name, v = shapes[one.own] and not one.is_computed and (one.v and one.v.macro or one.own), one.v
      for _, side in ipairs(launch.block) do
        local is_side = one.n > 1 and side.n == one.n
        if name and is_side and not is_free(launch, side, steps, { "gridDim", "blockDim", one.own }) then name = nil end
        v = v or is_side and side or nil
      end
      while v and name do -- no size of a buffer may depend on a parameter
        if in_data and (in_data[v] or of_data[v.macro or ""]) then name = nil end
        v = v.of
      end
      for _, other in ipairs(whole) do
        if one.v and other.v and rawequal(source_of(one.v), source_of(other.v)) and numbers[other.own] then name = other.own end -- one variable is both
      end
      if name then numbers[name], sources[name], parts[one.i] = one.n, one.v, "${" .. name .. "}" end
    end
  end
  return parts, numbers, sources, whole
end

-- Adds the words in the values of macros among the words `found`. Returns `found`.
local function with_macros(found, facts)
  for _ = 1, 4 do
    for name, v in pairs(early.copied(found)) do
      for inner in early.names_in(facts.macros[name] and facts.macros[name].value or "") do found[inner] = found[inner] or v end
    end
  end
  return found
end

-- ---- structures by value ----

local read_buffer

-- Lists the members of a structure. A pointer to memory of the device becomes a buffer. Returns false if a member has an
-- unknown type.
local function members(self, class, v, name, list)
  local fine = class ~= nil
  for _, id in ipairs(class and class.children or {}) do
    local field = syntax.node_of(id)
    if field.kind == "FieldDecl" then
      local cell = v and v.fields and v.fields[field.name]
      local one, kind = cell and cell.v, field.type == "bool" and "bool" or C_TYPES[field.type]
      local to = string.match(string.gsub(field.type, "^const ", ""), "^(.-) %*$")
      if kind then
        local is_bare = one and one.is_field and is_plain(one.of) and not self:name_of(one) -- no size depends on the number
        local text = one and one.n and (is_bare and number_text(one.n) or self:render(one, "data", 0))
        list[#list + 1] = "at." .. kind .. "(" .. (text and (tonumber(text) and text or quoted(text)) or ask(name .. "." .. field.name .. " is " .. (one and question(one) or "set at run time"))) .. ")"
      elseif one and one.object and to and C_TYPES[to] then
        local own = field.name
        if self.taken[own] then own = string.gsub(name, "%.", "_") .. "_" .. own end
        while self.taken[own] do own = own .. "_" end
        self.taken[own] = true
        read_buffer(self, { pointer = true, const = string.find(field.type, "^const ") ~= nil, type = C_TYPES[to], lanes = 1, bytes = arguments.bytes_of(to), is_member = true },
                    { name = own, text = field.type .. field.name, field = field.name }, one, self.launch.decl, self.position, self.kernel, {})
        list[#list + 1] = quoted(own)
      elseif field.class and not string.find(field.type, "[%]*]") then
        fine = members(self, syntax.node_of(field.class), one, name .. "." .. field.name, list) and fine
      else
        fine = false
      end
    end
  end
  return fine
end

-- ---- the comment ----

local function write_comment(fields, order)
  local lines = {}
  for _, field in ipairs(order) do
    local list = fields[field]
    if list.text then
      lines[#lines + 1] = string.format("%-7s = %s%s", field, list.text, (list.why or "") ~= "" and "   -- " .. list.why or "")
    elseif #list > 0 then
      lines[#lines + 1] = string.format("%-7s = {", field)
      for _, one in ipairs(list) do
        lines[#lines + 1] = "  " .. one.name .. " = " .. one.text .. "," .. (one.why ~= "" and "   -- " .. one.why or "")
      end
      if list.note then lines[#lines + 1] = "  -- " .. list.note end
      lines[#lines + 1] = "}"
    end
  end
  return "/* autotune\n" .. table.concat(lines, "\n") .. "\n*/\n"
end

-- Returns the text of a grid or a block.
local function sides_text(list)
  local texts = {}
  for i, e in ipairs(list) do texts[i] = string.find(e, "^at%.ask") and e or quoted(e) end
  while #texts > 1 and texts[#texts] == "\"1\"" do texts[#texts] = nil end
  return #texts == 1 and texts[1] or "{ " .. table.concat(texts, ", ") .. " }"
end

-- Finds the parameters for the block's x, y and z, and the other values that they replace.
local function read_block(self, launch, numbers, words)
  local sides, list = launch.block, {}
  local count = 3
  while count > 1 and sides[count].n == 1 and (is_plain(sides[count]) or sides[count].of and is_plain(sides[count].of)) do count = count - 1 end
  for i = 1, count do
    local v = sides[i]
    local from = v
    while from and from.of do from = from.of end
    local name = self:name_of(v)
    if not name and from and from.macro and self.tuned[from.macro] then name = from.macro end
    for own, n in pairs(numbers) do
      if not name and v.n == n and n > 1 then
        local only = true
        for other, m in pairs(numbers) do only = only and (other == own or m ~= n) end
        name = only and own or nil
      end
    end
    local is_mere = from and not from.op
    -- If block.y is computed, such as a number of warps, then block.x = 32 is the size of a warp and stays constant.
    local second = sides[2]
    while second and second.of do second = second.of end
    if i == 1 and v.n == 32 and count > 1 and second and second.op then is_mere = false end
    if not name and from and from.op and words.blockDim then -- tunes the host's numbers from which the block is computed
      walk(v, function(x)
        if x.name and x.of and is_plain(x.of) and x.n and x.n > 1 and x.n <= MOST_THREADS and not self.in_data[x] and not self:name_of(x) and not self.taken[x.name] and is_free(launch, x, self.steps, { "gridDim" }) then
          self.named[x], self.tuned[x.name], self.taken[x.name] = x.name, x.n, true
          self:add("space", x.name, values_around(x.n), why(x))
          self:add("baseline", x.name, tostring(x.n), "")
        end
        return not self:name_of(x)
      end)
    end
    -- If the kernel uses a parameter with the same number instead of blockDim, block and parameter must be equal: the
    -- pattern uses this parameter for the block.
    for own, n in pairs(self.tuned) do
      if not name and is_mere and not words.blockDim and n == v.n and v.n > 1 and words[own] then name, self.literal[own] = own, true end
    end
    -- The block's size is tuned only if the grid depends on it or the kernel strides over the grid: otherwise more threads
    -- per block would do other work.
    local decides = from and from.macro and self.of_data[from.macro] -- a buffer's size depends on the number
    for _, arg in pairs(launch.args) do
      walk(arg.object and arg.object.bytes, function(x)
        decides = decides or x.op == "/" and is_free({ grid = { x.b } }, v, {}, {})
        return true
      end)
    end
    if not name and is_mere and not decides and words.blockDim and (v.n == nil or is_free(launch, v, self.steps, { "gridDim" })) and v.n ~= 1 then
      name = "BLOCK" .. (count > 1 and SIDES[i] or "")
      while self.taken[name] do name = name .. "_" end
      self.taken[name] = true
      self.tuned[name], self.literal[name] = v.n or -1, true
      self:add("space", name, v.n and values_around(v.n, self.most) or ask(question(v, name)), launch.at .. ": " .. (v.n and v.n .. " in the launch" or ""))
      if v.n then self:add("baseline", name, tostring(v.n), "") end
    end
    self.is_fixed = self.is_fixed or not name and v.n ~= 1 and is_mere and not from.macro
    if name and numbers[name] and is_mere and not from.macro then self.literal[name] = true end
    if name and (self.tuned[name] or numbers[name]) then
      for node in function(_, at) if at == nil then return v end return at.of end do self.named[node] = name end
      self.tuned[name] = self.tuned[name] or numbers[name]
    end
    list[i] = name or v
  end
  return list
end

-- Returns the type of all members of a structure; nil if the members have several types or an unknown one.
local function member_type(class)
  local found
  for _, id in ipairs(class and class.children or {}) do
    local field = syntax.node_of(id)
    local own = field.kind == "FieldDecl" and (field.class and member_type(syntax.node_of(field.class)) or C_TYPES[string.gsub(field.type, "%[.*$", "")])
    if own == nil or own and found and found ~= own then return nil end
    found = found or own
  end
  return found or nil
end

-- Adds the buffer of a pointer, with its type, size and contents.
function read_buffer(self, a, param, v, decl, i, found, words)
  local name, object = param.name, v and v.object
  local role = a.const and "input" or "inout"
  if is_plain(v) and v.n == 0 then
    self:add("args", name, "at.uint64(0)", "the host passes a null pointer")
    return
  end
  local use = not a.const and syntax.only_use(decl, i, found.text, 0, param.field)
  if use == "read" then role = "input" elseif use == "write" and not (object and v.zero) then role = "output" end
  local known = a.type and arguments.SCALARS[a.type] and a.type ~= "bool" and not a.is_member
  local width = a.bytes > 0 and a.bytes or 1
  local elements, place_why = nil, object and object.at .. ": " .. (object.text or "") or ""
  if object and object.bytes then
    local bytes = object.bytes
    if v.offset and v.offset.n ~= 0 then
      bytes = values.computed("-", bytes, v.offset)
      place_why = place_why .. ", from a place within it"
    end
    local units = divided(bytes, width)
    elements = units and self:render(units, "data", 0)
    if not elements then
      bytes = self:render(bytes, "data", 5)
      elements = bytes and (width > 1 and bytes .. " // " .. width or bytes)
    end
  end
  local size = elements or ask(object and "how many elements, " .. object.at or "how many elements " .. name .. " has" .. (self.launch and ", " .. self.launch.at or ""))
  for _, one in ipairs(object and self.shared or {}) do
    if same(one.v, v) then
      self:add("args", name, quoted(one.name), "the host passes one buffer as both")
      if role ~= "input" then self.written[one.name] = true end
      if role ~= "output" then self.both[one.name] = true end
      return
    end
  end
  if object then self.shared[#self.shared + 1] = { v = v, name = name } end
  if role ~= "input" then self.written[name] = true end
  local extra = {}
  if a.type == "bool" then
    extra[1] = "dtype = \"uint8\""
  elseif a.type == "pointer" then
    self:add("buffers", name, ask(param.text .. " leads to addresses: at.scratch { dtype = \"uint64\", count = ... } if an earlier launch writes them; if the host does, this kernel cannot be tuned"), "")
    return
  elseif not known then
    local parameter = not a.type and decl and syntax.parameters_of(decl)[i]
    local unit = a.type or parameter and member_type(parameter.pointee_class and syntax.node_of(parameter.pointee_class))
    if not unit and a.bytes > 0 then
      self:add("buffers", name, ask(param.text .. ", " .. (elements and elements .. " structures" or "structures") .. " of " .. a.bytes .. " bytes, whose members have several types: at." .. role .. " { dtype = \"uint8\", count = ... }"), place_why)
      return
    end
    local factor = unit and width // host.sizeof(unit) or 1
    extra[1] = "dtype = " .. (a.bytes == 0 and ask("what " .. param.text .. " leads to") or quoted(unit))
    if elements then extra[2] = "count = " .. quoted(factor > 1 and factor .. " * " .. (string.find(elements, "[^%w_]") and "(" .. elements .. ")" or elements) or elements)
    else extra[2] = "count = " .. size end
  end
  local filled = object and string.find(a.type or "", "int") and role ~= "output" and ((v.from or object).fill or {}) or {}
  local is_index = string.find(a.type or "", "int") and kernel_text.is_index_array(string.gsub(name, "_$", ""))
  local count_why = place_why
  if filled.kind then place_why = filled.at .. ": " .. filled.text end
  -- Random numbers show more than a constant, unless they are indices or addresses.
  local is_constant = filled.kind == "constant" and (is_index or words.asm)
  local limit = (is_constant or filled.kind == "below") and not v.zero and not v.part and self:render(filled.limit, "data", 0)
  if object and v.zero then
    extra[#extra + 1] = "fill = \"zero\""
  elseif object and v.part then
    extra[#extra + 1] = "fill = " .. ask("zeros, but for the part that the host copies, " .. v.part)
  elseif filled.kind == "below" and limit then
    extra[#extra + 1] = "fill = \"below\", limit = " .. (tonumber(limit) and limit or quoted(limit))
  elseif is_constant and limit then
    extra[#extra + 1] = "fill = at.constant(" .. (tonumber(limit) and limit or quoted(limit)) .. ")"
  elseif is_index and (filled.kind == "index" or filled.kind == "permutation") then
    extra[#extra + 1] = "fill = " .. quoted(filled.kind)
  elseif is_index then
    -- If the kernel reads array[i] and array[i + 1], the elements are offsets of rows.
    local is_offsets = string.find(found.text, "%f[%w_]" .. string.gsub(name, "_$", "") .. "%s*%[[^%]]*%+%s*1%s*%]")
    extra[#extra + 1] = is_offsets and "fill = \"offsets\", limit = " .. ask("the last of " .. name .. ", where the rows end")
      or "fill = \"below\", limit = " .. ask(name .. " has places in another buffer: below what? If they are none, fill = at.values { ... }" .. (filled.text and "; " .. remark(filled.at .. ": " .. filled.text) or ""))
  end
  if known or a.type == "bool" then self:add("sizes", name, elements and quoted(elements) or size, count_why) end
  if role == "output" and #extra == 0 then self:add("outputs", name, quoted(name)) end
  if #extra > 0 or role == "input" and not a.const then
    self:add("buffers", name, "at." .. role .. (#extra > 0 and " { " .. table.concat(extra, ", ") .. " }" or " {}"), #extra > 0 and (object and place_why or "") or "only read")
  end
end

-- Returns a whole number as the kernel's type holds it: 0xDEADBEEF is negative as an int.
local function converted(v, a)
  local bits, n = 8 * a.bytes, math.tointeger(v.n)
  if bits >= 64 then return v end
  local low = n & (1 << bits) - 1
  if string.sub(a.type, 1, 1) == "i" and low >> (bits - 1) == 1 then low = low - (1 << bits) end
  if low == n then return v end
  v = early.copied(v)
  v.n = low
  return v
end

-- Describes a number or a structure.
local function read_number(self, a, param, v)
  local name = param.name
  if string.find(param.text, "cuda%a+Object_t") then
    local kind = string.find(param.text, "Surface", 1, true) and "surface" or "texture"
    return self:add("args", name, ask("at." .. kind .. " { buffer = ..., size = { ... } }: " .. param.text), self.launch and self.launch.at)
  end
  if a.lanes == 1 and a.type and arguments.SCALARS[a.type] or a.type == "bool" then
    local derived = v and is_number(v) and self:is_derived(v, name)
    local reason = is_number(v) and why(v)
    if not v then
      self:add("problem", name, ask("set by who launches it: " .. param.text), "")
    elseif not is_number(v) then
      self:add("problem", name, ask("not a number in the file: " .. param.text), self.launch.at)
    elseif v.n == nil and not derived then
      self:add("problem", name, ask(question(v, name)), "")
      self.numbers[#self.numbers + 1] = { name = name, v = v }
    elseif derived then
      local e = self:render(self:core(v, name), "launch", 0)
      self:add(e and "derived" or "problem", name, e and quoted(e) or v.n and number_text(v.n) or ask(question(v, name)), reason ~= "" and reason or self.launch.at)
    else
      if arguments.is_whole(a) and math.tointeger(v.n) then v = converted(v, a) end
      local value = a.type == "bool" and (v.n ~= 0 and "true" or "false") or arguments.is_whole(a) and math.tointeger(v.n) and number_text(math.tointeger(v.n)) or number_text(v.n + 0.0)
      self:add("problem", name, value, reason ~= "" and reason or self.launch.at)
      self.numbers[#self.numbers + 1] = { name = name, v = v }
    end
    return
  end
  local list, class = {}, v and v.class and syntax.node_of(v.class)
  local fine = members(self, class, v, name, list)
  if a.lanes > 1 and v and v.fields then
    fine, list = true, {}
    for _, side in ipairs { "x", "y", "z", "w" } do
      local one = v.fields[side] and v.fields[side].v
      if #list < a.lanes then list[#list + 1] = "at." .. a.type .. "(" .. (one and one.n and number_text(one.n) or ask(name .. "." .. side .. " is set at run time")) .. ")" end
    end
  end
  self:add("args", name, fine and #list > 0 and "at.struct { " .. table.concat(list, ", ") .. " }" or ask(param.text .. ", of " .. a.bytes .. " bytes: at.struct { ... }"),
           v and v.at or self.launch and self.launch.at or "")
end

--- Returns the comment. `entry` names `kernel`. guess(template) returns template arguments. compile(entry, defines)
--- returns the kernel's type and its parameters, and adds the macros that nothing defines to `defines`.
return function(entry, kernel, names, facts, guess, compile)
  local places = {}
  for name, m in pairs(facts.macros) do
    for _, one in ipairs { m, table.unpack(m.others or {}) } do
      local n = parse_c(one.value)
      if type(n) ~= "number" then n = early.macro_value(one.value, {}, 0) end
      local at = syntax.place(one)
      places[at] = type(n) == "number" and { name = name, n = n, at = at } or nil
      if places[at] then places[name .. "=" .. tostring(n)] = places[at] end
    end
  end
  local launches = code.run(kernel.name, places)
  -- Chooses the launch with the fewest unknown values; the first of several such launches.
  local launch, least = nil, math.huge
  for _, one in ipairs(launches) do
    local open = one.uncertain and 1 or 0
    for i = 1, 3 do open = open + (one.block[i].n == nil and 8 or 0) + (one.grid[i].n == nil and 1 or 0) end
    for _, v in pairs(one.args) do open = open + ((is_number(v) and v.n == nil or v.object and not v.object.bytes) and 2 or 0) end
    if one.name == kernel.name and open < least then launch, least = one, open end
  end
  -- The compiler reports the parameters for this launch's template instance.
  local self = early.copied(expressions.context)
  for key, v in pairs({ named = {}, tuned = {}, literal = {}, taken = {}, symbols = {}, of_data = {}, in_data = {}, of_block = {}, numbers = {}, shared = {}, conditions = {}, written = {}, both = {}, launch = launch, kernel = kernel,
                              fields = { problem = {}, derived = {}, space = {}, args = {}, launch = {}, baseline = {}, sizes = {}, outputs = {}, buffers = {}, oracle = {} } }) do self[key] = v end
  local is_template = kernel.template ~= "" and not string.find(entry, "<", 1, true)
  local plain, numbers, sure = entry, {}, true
  if is_template then
    local parts = instance(launch, kernel.template, {})
    sure = parts ~= nil
    plain = entry .. (parts and "<" .. table.concat(parts, ", ") .. ">" or guess(kernel.template))
  end
  local defines = {}
  local signature, params = compile(plain, defines)
  local words, parts, all, steps = host.kernel_words(), nil, {}, kernel_text.strides()
  local shapes, repeats = kernel_text.shaping_words()
  shapes, repeats = with_macros(shapes, facts), with_macros(repeats, facts)
  local of_data = self.of_data
  self.steps, self.most = steps, tonumber(string.match(kernel.text, "__launch_bounds__%s*%(%s*(%d+)%s*[,)]"))
  local function mark(v, marks)
    walk(v, function(x)
      if x.macro then marks[x.macro] = true end
      return true
    end)
  end
  local function mark_sizes(v)
    mark(v.object and v.object.bytes, of_data)
    walk(v.object and v.object.bytes, function(x)
      self.in_data[x] = true
      return true
    end)
    for _, cell in pairs(v.fields or {}) do mark_sizes(cell.v) end
  end
  for _, v in pairs(launch and launch.args or {}) do mark_sizes(v) end
  if is_template and sure then
    local sources
    parts, numbers, sources, all = instance(launch, kernel.template, shapes, self.in_data, of_data, steps)
    if early.is_empty(numbers) and launch then -- a number that is the block's size
      local kept = {}
      for _, one in ipairs(all) do
        for _, side in ipairs(launch.block) do kept[one.own] = kept[one.own] or one.n > 1 and side.n == one.n or nil end
      end
      parts, numbers, sources, all = instance(launch, kernel.template, kept, self.in_data, of_data, steps)
    end
    for own, v in pairs(sources or {}) do
      while v and v.name do self.named[v], v = own, v.of end
    end
  end
  local is_parameter = {}
  for _, p in ipairs(params) do
    if p.name ~= "" then self.taken[p.name], is_parameter[p.name] = true, true end
  end
  for name in pairs(facts.macros) do
    if math.type(launches.values[name]) == "integer" or early.macro_value(facts.macros[name].value, facts.macros, 0) ~= nil then self.symbols[name] = true end
    self.taken[name] = true
  end
  -- A number of the kernel is tuned if it changes only how the kernel computes: no buffer's size may depend on it.
  for own, n in pairs(numbers) do
    self.tuned[own], self.taken[own] = n, true
    self:add("space", own, values_around(n), launch.at .. ": " .. own .. " is " .. n .. " in the launch")
    self:add("baseline", own, tostring(n), "")
  end
  local in_launch = {}
  for i = 1, 3 do
    mark(launch and launch.block[i], self.of_block)
    for name in pairs(self.of_block) do in_launch[name] = true end
    local grid = launch and launch.grid[i]
    if grid then
      local _, divisor = rounded_up(grid)
      local bare = without_casts(grid)
      mark(divisor or bare.op == "/" and bare.b or nil, in_launch)
    end
  end
  -- A number of the block is tuned if the grid follows it; another number of the launch if it decides how much a thread does.
  local function is_tuned(name, n)
    for i = 1, launch and 3 or 0 do
      local from = launch.block[i]
      while from.of do from = from.of end
      local is_side = from.macro == name or shapes[name] and n > 1 and is_plain(from) and from.n == n and not words.blockDim
      if is_side then return is_free(launch, launch.block[i], steps, { "gridDim", "blockDim", name }) end
    end
    if in_launch[name] and self.of_block[name] then return repeats[name] or steps[name] or steps.gridDim or steps.blockDim end
    if in_launch[name] then return repeats[name] or steps.gridDim and not words[name] end
    return shapes[name] and (not launch or shapes[name] == true or shapes[name] == "step" and repeats[name])
  end
  local ordered, left_out = {}, {}
  for name, m in pairs(facts.macros) do
    local v = launches.values[name] or early.macro_value(m.value, facts.macros, 0)
    local own = (launches.values[name] or math.type(parse_c(m.value)) == "integer") and math.type(v) == "integer" and v
    if own and v >= 0 and v <= 4096 and (words[name] or in_launch[name]) and not string.find(name, "^_") then
      local is_warp = v == 32 and string.find(string.lower(name), "warp")
      if is_tuned(name, own) and not is_warp and not of_data[name] and not is_parameter[name] then
        ordered[#ordered + 1] = { name = name, v = v, m = m }
      elseif not of_data[name] or self.of_block[name] then
        left_out[#left_out + 1] = name
      end
    end
  end
  table.sort(ordered, function(x, y) return x.m.line < y.m.line or x.m.line == y.m.line and x.name < y.name end)
  table.sort(left_out)
  for _, one in ipairs(ordered) do
    self.tuned[one.name] = one.v
    self:add("space", one.name, values_around(one.v, self.of_block[one.name] and self.most), (launches.places[one.name] or one.m.file .. ":" .. one.m.line) .. ": " .. one.name .. " is " .. one.v)
  end
  local known = check.sorted_keys(is_parameter)
  for name in pairs(facts.macros) do known[#known + 1] = name end
  for _, name in ipairs(defines) do
    if not facts.macros[name] then
      local meant = host.nearest(name, known)
      if meant then
        host.fail_in(kernel.file, kernel.line, string.format("nothing defines %s, which %s reads; did you mean '%s'?", name, kernel.name, meant))
      end
      self.tuned[name] = -1
      self:add("space", name, ask("nothing defines " .. name .. (kernel_text.is_type_like(name) and ", a type: { \"float\" }, say" or ": the values to try")), "")
    end
  end
  local block = launch and read_block(self, launch, numbers, words)
  for i, a in ipairs(signature) do
    local name, v = params[i].name, launch and launch.args[i]
    while v and not a.pointer and name ~= "" and is_number(v) and v.name and not self.named[v] and not self.tuned[self:name_of(v)] do
      self.named[v], v = name, v.of
    end
  end
  for i, side in ipairs(block or {}) do -- the kernel's parameters have their names now
    if type(side) ~= "string" then block[i] = self:render(side, "launch", 0) or ask(question(side)) end
  end
  local function read_numbers(are_structs)
    for i, a in ipairs(signature) do
      local p = params[i]
      local is_struct = a.lanes ~= 1 or not a.type
      if not a.pointer and not a.empty and p.name ~= "" and is_struct == are_structs and not (launch and launch.args[i] == nil and string.find(p.text, "=", 1, true)) then
        self.position = i
        read_number(self, a, p, launch and launch.args[i])
      end
    end
  end
  read_numbers(false)
  for i, a in ipairs(signature) do
    if a.pointer and params[i].name ~= "" then
      read_buffer(self, a, params[i], launch and launch.args[i], launch and launch.decl or nil, i, kernel, words)
    end
  end
  local grid = {}
  for i = 1, launch and 3 or 0 do
    self.sides, self.side = block, i
    grid[i] = self:render(launch.grid[i], "launch", 0) or ask(question(launch.grid[i]))
  end
  read_numbers(true) -- their members may be variables of sizes and of the grid
  for i = #self.fields.buffers, 1, -1 do -- written under another name
    local one = self.fields.buffers[i]
    if self.written[one.name] and one.text == "at.input {}" then table.remove(self.fields.buffers, i) end
  end
  local outputs = {}
  for _, one in ipairs(self.fields.outputs) do
    if not self.both[one.name] then outputs[#outputs + 1] = one.text end
  end
  self.fields.outputs = #outputs > 0 and { text = "{ " .. table.concat(outputs, ", ") .. " }", why = "only written" } or {}
  local shared = launch and launch.shared and launch.shared.n ~= 0 and (self:render(launch.shared, "launch", 0) or ask(question(launch.shared)))
  local text
  if launch then
    text = "grid = " .. sides_text(grid) .. ", block = " .. sides_text(block) .. (shared and ", shared = " .. (string.find(shared, "^at%.ask") and shared or quoted(shared)) or "")
  else
    local found = host.launches(kernel.name)[1]
    local reason = found and found.at .. " launches it, which following the host's code did not reach" or "nothing in the file launches " .. kernel.name
    text = "grid = " .. ask(reason) .. ", block = " .. ask(reason)
  end
  self.fields.launch = { text = "{ " .. text .. " }", why = launch and remark(launch.at .. ": " .. launch.text) .. table.concat(self.conditions) or "" }
  for _, one in ipairs(self.numbers) do -- all variables are known only now
    if self:is_derived(one.v, one.name) then
      table.remove(self.fields.problem, find(self.fields.problem, one.name))
      read_number(self, { lanes = 1, type = "int64" }, { name = one.name, text = "" }, one.v)
    end
  end
  for _, one in ipairs(all) do -- an argument that is a variable of the problem follows this variable
    local name = not numbers[one.own] and (one.v and (self:name_of(one.v) or one.v.macro) or one.n > 1 and one.n == launch.block[1].n and block[1])
    if name and find(self.fields.problem, name) then parts[one.i] = "${" .. name .. "}" end
  end
  for i, part in ipairs(parts or {}) do -- also the arguments of a class, such as traits
    local class, inner = string.match(part, "^([%w_:]+)(%b<>)$")
    local own = class and syntax.template_parameters(string.match(class, "[%w_]+$"))
    local list = own and early.split(string.sub(inner, 2, -2), true) or {}
    for k, text in ipairs(list) do
      local v = launches.constants[(own[k] or "") .. "=" .. text]
      local name = v and self:name_of(v)
      if name and find(self.fields.problem, name) then list[k] = "${" .. name .. "}" end
    end
    if own then parts[i] = class .. "<" .. table.concat(list, ", ") .. ">" end
  end
  local of_kernel, whole = {}, parts and entry .. "<" .. table.concat(parts, ", ") .. ">" or plain
  if #names > 1 or whole ~= entry or string.find(entry, "<", 1, true) then
    of_kernel[1] = "entry = " .. (sure and quoted(whole) or ask("template <" .. string.gsub(kernel.template, "%s+", " ") .. ">, which nothing in the file instantiates: " .. whole .. ", say"))
  end
  if #self.fields.args > 0 then
    local texts = {}
    for i, one in ipairs(self.fields.args) do texts[i] = one.name .. " = " .. one.text end
    of_kernel[#of_kernel + 1] = "args = { " .. table.concat(texts, ", ") .. " }"
  end
  if #of_kernel > 0 then self.fields.kernel = { text = "{ " .. table.concat(of_kernel, ", ") .. " }", why = self.fields.args[1] and self.fields.args[1].why or "" } else self.fields.kernel = {} end
  if self.is_fixed then left_out[#left_out + 1] = "the block" end
  if #self.fields.space == 0 then self.fields.space = { text = "{}", why = "no number shapes the kernel" .. (#left_out > 0 and "; " .. table.concat(left_out, ", ", 1, math.min(#left_out, 8)) .. " may say what is computed" or "") }
  elseif #left_out > 0 then self.fields.space.note = table.concat(left_out, ", ", 1, math.min(#left_out, 8)) .. " may say what is computed" end
  if launch and #self.fields.sizes + #self.fields.buffers + #self.fields.args == 0 then self.fields.oracle = { text = "false", why = "no buffer has results to compare" } end
  if #self.fields.problem == 0 then self.fields.problem = { text = "{}", why = "no number of the kernel is a size" } end
  return write_comment(self.fields, { "problem", "derived", "space", "baseline", "kernel", "launch", "sizes", "outputs", "buffers", "oracle" })
end
