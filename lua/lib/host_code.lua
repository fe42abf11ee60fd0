-- Interprets the host code of a file, over the syntax tree of host.syntax, to find the launches of kernels and their
-- arguments. Starts at main, or at each function if there is no main. Computes only numbers and sizes of memory.

local host = ...

local early = host.own "early.lua"
local syntax = host.own "host_syntax.lua"
local values = host.own "host_values.lua"
local library = host.own "host_library.lua"

local MOST_STEPS, MOST_DEPTH, MOST_ROUNDS = 100000, 24, 64

local state -- state of the run: steps, depth, rounds, frame, globals, launches, called, uncertain
local node_of, place, text_of, last, body_of, parameters_of = syntax.node_of, syntax.place, syntax.text_of, syntax.last, syntax.body_of, syntax.parameters_of
local literal, open_value, is_number, is_plain, copied, given, merged, computed =
  values.literal, values.open_value, values.is_number, values.is_plain, values.copied, values.given, values.merged, values.computed
local at_offset, truth, apply, memory, write, element, member, converted =
  values.at_offset, values.truth, values.apply, values.memory, values.write, values.element, values.member, values.converted

local eval, cell_of, exec, invoke

-- Returns the number `v`, marked with the macro or constant from which the code at `node` takes it, if there is one.
local function with_macro(v, node)
  if not is_number(v) or v.n == nil then return v end
  if node.written == nil then
    local text, file, line = host.syntax_text(node.id)
    node.text, node.written = text, file and string.match(file, "([^/]*)$") .. ":" .. line or ""
  end
  local macro = state.macros[node.text .. "=" .. tostring(v.n)] or state.macros[node.written]
  if not macro or macro.n ~= v.n then return v end
  local at = node.written ~= "" and node.written or macro.at
  state.launches.values[macro.name], state.launches.places[macro.name] = v.n, at
  return { n = v.n, float = v.float, macro = macro.name, at = at }
end

-- Runs all branches, of which a program takes one at run time. If the branches give a variable different values, the
-- variable is unknown afterwards.
local function alternatives(ways, node)
  local outer, results, cells, is_written = memory.trail, {}, {}, {}
  state.uncertain = state.uncertain + 1
  for i, way in ipairs(ways) do
    memory.trail = {}
    local status, set = way(), {}
    if state.ended and state.steps <= MOST_STEPS then state.ended, status = false, "exit" end
    for _, one in ipairs(memory.trail) do
      local cell = one[1]
      if not is_written[cell] then cells[#cells + 1], is_written[cell] = cell, true end
      set[cell] = cell.v
    end
    for k = #memory.trail, 1, -1 do memory.trail[k][1].v = memory.trail[k][2] end
    results[i] = { status = status, set = set }
  end
  state.uncertain, memory.trail = state.uncertain - 1, outer
  local live = {}
  for _, one in ipairs(results) do
    if one.status ~= "exit" and one.status ~= "return" then live[#live + 1] = one end
  end
  if #live == 0 then return results[1] and results[1].status or nil end
  for _, cell in ipairs(cells) do
    local v = live[1].set[cell] == nil and cell.v or live[1].set[cell]
    for i = 2, #live do
      local other = live[i].set[cell] == nil and cell.v or live[i].set[cell]
      v = merged(v, other, node)
    end
    write(cell, v)
  end
  return nil
end

-- Marks numbers as unknown that later iterations of a loop change.
local function widen(trail_from, node)
  local seen = {}
  for i = trail_from, #memory.trail do
    local cell, before = memory.trail[i][1], memory.trail[i][2]
    -- Is the value that the variable had before, unless the user's input is another?
    local is_kept = seen[cell] or rawequal(cell.v, before) or cell.v and cell.v.kept and values.same(cell.v.kept, before)
    seen[cell] = true
    if is_number(cell.v) and cell.v and not cell.v.open and not is_kept then write(cell, open_value(cell.v.name, node, "changes in a loop")) end
  end
end

local function loop(node, cond, inc, body, body_first)
  local own_trail = memory.trail == nil
  if own_trail then memory.trail = {} end
  local from, rounds, status = #memory.trail + 1, 0, nil
  local outermost = state.rounds == nil
  if outermost then state.rounds = 0 end
  while true do
    local holds = true
    if cond and not (body_first and rounds == 0) then holds = truth(eval(cond)) end
    if holds == false then break end
    if holds == nil or rounds >= MOST_ROUNDS or not outermost and state.rounds >= 4 * MOST_ROUNDS and rounds > 0 then
      if rounds == 0 then
        status = alternatives({ function() return exec(body) end, function() end }, node)
      end
      widen(from, node)
      break
    end
    rounds, state.rounds = rounds + 1, state.rounds + 1
    status = exec(body)
    if status == "break" or status == "return" or status == "exit" then break end
    if inc then eval(inc) end
  end
  if outermost then state.rounds = nil end
  if own_trail then memory.trail = nil end
  return (status == "return" or status == "exit") and status or nil
end

local function declare(frame, node)
  local v, init = nil, node.init and node_of(node.init)
  if string.find(node.type, "&$") and init then
    frame.cells[node.id] = cell_of(init)
    return frame.cells[node.id]
  end
  if init then v = eval(init) end
  if string.find(node.type, "%]$") and not (v and v.object) then
    v = { object = { bytes = literal(node.bytes), at = place(node), text = text_of(node), cells = v and v.items or {}, is_host = true } }
  end
  if v == nil and node.class and node.bytes then v = { fields = {}, class = node.class } end
  v = v or open_value(node.name, node, "not set before")
  local cell = { v = given(node.name, v, node), name = node.name }
  for field, inner in pairs(cell.v.fields or {}) do
    if is_number(inner.v) and not is_plain(inner.v) and not inner.v.name then inner.v = given(node.name .. "_" .. field, inner.v, node) end
  end
  frame.cells[node.id] = cell
  return cell
end

local function find_cell(id)
  local frame = state.frame
  while frame do
    if frame.cells[id] then return frame.cells[id] end
    frame = frame.up
  end
  local decl = node_of(id)
  if decl.kind == "EnumConstantDecl" then return { v = literal(decl.value) } end
  if state.globals.cells[id] then return state.globals.cells[id] end
  if decl.kind ~= "VarDecl" then
    state.globals.cells[id] = { v = open_value(decl.name, decl), name = decl.name }
    return state.globals.cells[id]
  end
  local cell = declare(state.globals, decl)
  local own = state.macros[place(decl)]
  local macro = is_number(cell.v) and cell.v.n and own and own.name == decl.name and decl.name
  if macro then state.launches.values[macro] = cell.v.n end
  if macro then cell.v = { n = cell.v.n, macro = macro, at = place(decl) } end
  return cell
end

function cell_of(node)
  local kind = node.kind
  if kind == "DeclRefExpr" and node.ref then return find_cell(node.ref) end
  if kind == "MemberRefExpr" then
    local base = last(node)
    if not base or base.kind == "TypeRef" then return member({ to = state.frame.this or { v = open_value("this", node) } }, node.name, node) end
    local b = string.find(base.type, "[*]") and eval(base) or { to = cell_of(base) }
    return member(b, node.name, node)
  end
  if kind == "UnaryOperator" and node.op == "*" then return element(eval(last(node)), literal(0), node) end
  if kind == "ArraySubscriptExpr" then return element(eval(node_of(node.children[1])), eval(last(node)), node) end
  if kind == "CallExpr" and node.name == "operator[]" then return element(eval(node_of(node.arguments[1])), eval(node_of(node.arguments[2])), node) end
  if #node.children > 0 and (kind == "UnexposedExpr" and #node.children == 1 or kind == "ParenExpr" or string.find(kind, "Cast")) then
    local cell = cell_of(last(node))
    local v = converted(cell.v, node.type)
    return rawequal(v, cell.v) and cell or { v = v }
  end
  return { v = eval(node) }
end

-- ---- calls ----

local function construct(node, args)
  local v = library.construct(node, args)
  if v then return v end
  v = { fields = {}, class = node.class }
  for _, id in ipairs(node.class and node_of(node.class).children or {}) do -- the initialisers in the class
    local field = node_of(id)
    local init = field.kind == "FieldDecl" and not string.find(field.type, "%]$") and last(field)
    if init and not string.find(init.kind, "Ref$") then v.fields[field.name] = { v = given(field.name, eval(init), field), name = field.name } end
  end
  if node.ref then invoke(node_of(node.ref), args, { v = v }, node) end
  return v
end

--- Runs a function. `cells` are the cells of the arguments; parameters that are references share these cells.
function invoke(decl, args, this, node, cells, up)
  local body = body_of(decl)
  if not body or state.depth >= MOST_DEPTH or state.active[decl.id] and not state.recurs then
    for _, v in pairs(args) do library.forget(v, node, decl.name) end
    return open_value(nil, node, "computed by " .. decl.name)
  end
  local frame, outer = { cells = {}, up = up, this = this, results = {} }, state.frame
  for i, p in ipairs(parameters_of(decl)) do
    local v = args[i]
    if v == nil then
      local init = last(p)
      v = init and (string.find(init.kind, "Expr") or string.find(init.kind, "Literal") or string.find(init.kind, "Operator")) and eval(init) or open_value(p.name, p, "given by who calls " .. decl.name)
      if is_number(v) and v.open then v.name, v.at = p.name, place(p) end
    end
    if string.find(p.type, "&$") and cells and cells[i] then frame.cells[p.id] = cells[i]
    else frame.cells[p.id] = { v = given(p.name, v, p), name = p.name } end
  end
  state.frame, state.depth = frame, state.depth + 1
  state.called[decl.id] = true
  local is_again = state.active[decl.id]
  state.active[decl.id] = true
  for i, id in ipairs(decl.children) do -- the initialisers of a constructor
    local child = node_of(id)
    if child.kind == "MemberRef" and this and decl.children[i + 1] then
      local v = eval(node_of(decl.children[i + 1]))
      write(member({ to = this }, child.name, node), given(child.name, v, child))
    end
  end
  local status = exec(body)
  state.frame, state.depth, state.active[decl.id] = outer, state.depth - 1, is_again
  local result = frame.results[1]
  for i = 2, #frame.results do result = merged(result, frame.results[i], node) end
  return result or open_value(nil, node, "computed by " .. decl.name), status == "exit" and "exit" or nil
end

local function record(node, decl, name, grid, block, shared, args, named)
  for _, one in ipairs(state.launches) do
    if one.node == node and one.decl == decl then return end
  end
  for i, v in pairs(args) do -- as they are now: another cudaMemset may follow
    if v.object then
      args[i] = early.copied(v)
      args[i].zero, args[i].part, args[i].from = v.object.zero, v.object.part, v.object.from
    end
  end
  state.launches[#state.launches + 1] = {
    node = node, decl = decl, name = name, grid = library.sides(grid), block = library.sides(block), shared = shared, args = args,
    at = place(node), text = text_of(node), uncertain = state.uncertain > 0, within = state.within, instance = {},
  }
  for _, id in ipairs(named and named.children or {}) do -- the template's arguments that are no types
    local list = state.launches[#state.launches].instance
    if not string.find(node_of(id).kind, "Ref$") then list[#list + 1] = eval(node_of(id)) end
  end
end

local function evaluated(ids)
  local list, cells = {}, {}
  for i, id in ipairs(ids) do
    local child = node_of(id)
    if child.kind == "UnexposedExpr" and #child.children == 0 then
      list[i] = nil -- the parameter's default is used
    else
      local cell = cell_of(child)
      list[i], cells[i] = cell.v, cell
    end
  end
  return list, cells
end

local function call(node)
  local second = node.children[2] and node_of(node.children[2])
  if second and second.kind == "CallExpr" and (second.name == "__cudaPushCallConfiguration" or second.name == "cudaConfigureCall") then
    local config = evaluated(second.arguments)
    local args = {}
    for i, id in ipairs(node.arguments) do args[i] = eval(node_of(id)) end
    if #node.arguments == 0 then -- Clang lists no arguments in a template that is not instantiated
      for i = 3, #node.children do args[i - 2] = eval(node_of(node.children[i])) end
    end
    local decl, name, named = syntax.kernel_of(node_of(node.children[1]))
    record(node, decl, name, config[1], config[2], config[3], args, named)
    return literal(0)
  end
  local decl = node.ref and node_of(node.ref)
  local name = node.name
  if string.find(name, "^cudaLaunch%w*Kernel$") and #node.arguments >= 4 then
    local args, list = evaluated(node.arguments), {}
    local of, called = syntax.kernel_of(node_of(node.arguments[1]))
    for i, cell in pairs(args[4] and args[4].object and args[4].object.cells or {}) do list[i + 1] = cell.v and (cell.v.to and cell.v.to.v or cell.v) end
    if called then record(node, of, called, args[2], args[3], args[5], list) end
    return literal(0)
  end
  local base = node.children[1] and node_of(node.children[1])
  local object, this = base and base.kind == "MemberRefExpr" and last(base), nil
  if object and object.kind ~= "TypeRef" then this = string.find(object.type, "[*]$") and (eval(object) or {}).to or cell_of(object)
  elseif decl and decl.kind == "CXXMethod" then this = state.frame.this end
  local args, cells = evaluated(node.arguments)
  if decl and decl.kind == "CXXConstructor" then return construct(node, args) end
  if this and this.v and (this.v.vector or this.v.object) then
    local method = library.methods[name]
    return method and method(this.v, args, node) or open_value(nil, node)
  end
  if name == "operator=" and #args == 2 then
    write(cells[1], copied(args[2]))
    return args[2]
  end
  local f = args[1]
  if name == "operator()" and f and f.lambda then
    local rest, rest_cells = {}, {}
    for i = 2, #node.arguments do rest[i - 1], rest_cells[i - 1] = args[i], cells[i] end
    return invoke(f.lambda, rest, nil, node, rest_cells, f.frame)
  end
  if f and name == "operator[]" then return cell_of(node).v end
  if name == "generate" and f and f.object and args[3] and args[3].lambda then
    values.note_fill({ owner = f.object }, invoke(args[3].lambda, {}, nil, node, nil, args[3].frame), node, text_of(node))
  end
  if library.samples[name] then return library.samples[name](args, node) end
  if library.known[name] and not (decl and body_of(decl) and not syntax.is_replaced(decl)) then
    return library.known[name](args, node)
  end
  if decl and body_of(decl) then return invoke(decl, args, this, node, cells) end
  local parameters = decl and not syntax.is_unknown(decl) and parameters_of(decl) or {}
  for i, v in pairs(args) do
    local type = parameters[i] and parameters[i].type or ""
    if string.find(type, "&$") and cells[i] then v = { to = cells[i] } end
    if not string.find(type, "^const ") and not string.find(type, "const &$") then library.forget(v, node, name) end
  end
  if string.find(name, "^cuda") and (string.find(node.type, "cudaError") or string.find(node.type, "autotune_any")) then return literal(0) end
  return open_value(nil, node, name ~= "" and "set by " .. name or nil)
end

local function list_of(node)
  local v = { fields = {}, class = node.class, items = {} }
  local names = {}
  for _, id in ipairs(node.class and node_of(node.class).children or {}) do
    if node_of(id).kind == "FieldDecl" then names[#names + 1] = node_of(id).name end
  end
  for i, id in ipairs(node.children) do
    local child = node_of(id)
    if child.kind ~= "TypeRef" then
      local one = eval(child)
      v.items[i - 1] = { v = one }
      if names[i] then v.fields[names[i]] = { v = given(names[i], one, child), name = names[i] } end
      if is_plain(one) and names[i] then v.fields[names[i]].v.is_field = true end
    end
  end
  if string.find(node.type, "^dim3") then return construct(node, { v.items[0] and v.items[0].v, v.items[1] and v.items[1].v, v.items[2] and v.items[2].v }) end
  if not node.class and #node.children == 1 and not string.find(node.type, "%]$") then return v.items[0].v end
  return v
end

function eval(node)
  local kind = node.kind
  state.steps = state.steps + 1
  if state.steps > MOST_STEPS then
    state.ended = true
    return open_value(nil, node)
  end
  if kind == "IntegerLiteral" or kind == "FloatingLiteral" or kind == "CharacterLiteral" or kind == "CXXBoolLiteralExpr" then
    local v = { n = node.value, float = kind == "FloatingLiteral" }
    if v.float and v.n then v.n = v.n + 0.0 end
    return with_macro(v, node)
  elseif kind == "UnaryExpr" or kind == "CXXUnaryExpr" then
    return node.value and { n = node.value, width = true } or open_value(nil, node, "a size that depends on a template")
  elseif kind == "StringLiteral" then
    return { string = string.match(node.name, '^"(.*)"$') or "" }
  elseif kind == "CXXNullPtrLiteralExpr" or kind == "GNUNullExpr" then
    return literal(0)
  elseif kind == "DeclRefExpr" then
    local decl = node.ref and node_of(node.ref)
    if decl and (decl.kind == "FunctionDecl" or decl.kind == "CXXMethod") then return { fn = decl } end
    if decl then return cell_of(node).v end
    -- A number in the place of a template's parameter: all places of one parameter have one value.
    local v = last(node) and eval(last(node))
    if not is_plain(v) or math.type(v.n) ~= "integer" then return v or open_value(nil, node) end
    local key, constants = text_of(node) .. "=" .. v.n, state.launches.constants
    constants[key] = constants[key] or given(text_of(node), v, node)
    return constants[key]
  elseif kind == "MemberRefExpr" or kind == "ArraySubscriptExpr" or kind == "UnaryOperator" and node.op == "*" then
    return cell_of(node).v
  elseif kind == "ParenExpr" or kind == "UnexposedExpr" and #node.children < 2 or string.find(kind, "Cast") then
    local inner = last(node)
    if not inner then return nil end
    return converted(eval(inner), node.type)
  elseif kind == "UnaryOperator" then
    local op, inner = node.op, last(node)
    if op == "&" then
      local cell = cell_of(inner)
      if inner.kind == "ArraySubscriptExpr" then
        local base = eval(node_of(inner.children[1]))
        local v = base and base.object and not base.object.is_host and at_offset(base, "+", eval(last(inner)), node.pointee_bytes)
        if v then v.to = cell end
        if v then return v end
      end
      return cell.v and cell.v.fn and cell.v or { to = cell }
    elseif op == "++" or op == "--" then
      local cell = cell_of(inner)
      local old = cell.v
      local is_down = op == "--" or string.find(text_of(node), "--", 1, true)
      write(cell, given(cell.name, computed(is_down and "-" or "+", old or literal(0), literal(1)), node))
      return string.find(text_of(node), "^[+-]") and cell.v or old
    elseif op == "-" then
      return computed("-", literal(0), eval(inner) or literal(0))
    elseif op == "!" then
      local v = eval(inner)
      local holds = truth(v)
      if is_number(v) and v.op then return computed("==", v, literal(0)) end
      return holds == nil and open_value(nil, node) or literal(holds and 0 or 1)
    end
    return op == "+" and eval(inner) or open_value(nil, node)
  elseif kind == "BinaryOperator" or kind == "CompoundAssignOperator" then
    local op = node.op
    if string.find(op, "[^<>=!]=$") or op == "<<=" or op == ">>=" or op == "=" then
      local cell, v = cell_of(node_of(node.children[1])), eval(last(node))
      if op ~= "=" then v = computed(string.sub(op, 1, -2), cell.v or literal(0), v or literal(0)) end
      write(cell, given(cell.name, v, node))
      if cell.owner and state.rounds then values.note_fill(cell, v, node, text_of(node)) end
      return cell.v
    end
    local a = eval(node_of(node.children[1]))
    if op == "&&" or op == "||" then
      local holds = truth(a)
      if holds == (op == "||") then return literal(holds and 1 or 0) end
      local other = truth(eval(last(node)))
      if other == (op == "||") then return literal(other and 1 or 0) end
      if holds == nil or other == nil then return open_value(nil, node) end
      return literal(other and 1 or 0)
    end
    local b = eval(last(node))
    if op == "," then return b end
    if a and a.object and (op == "+" or op == "-") then return at_offset(a, op, b, node.pointee_bytes) end
    if not apply[op] then return node.value and literal(node.value) or open_value(nil, node) end
    if (op == "==" or op == "!=") and (a and not is_number(a) or b and not is_number(b)) then return literal(op == "!=" and 1 or 0) end
    local v = computed(op, a or open_value(nil, node), b or open_value(nil, node))
    if v.op and (node.type == "float" or node.type == "double") then v.float = true end
    -- The product BLOCK * 1 begins where the macro BLOCK begins, and has the same number, but is not the macro.
    local named, is_macro = with_macro(v, node), true
    values.walk(v, function(x)
      is_macro = is_macro and not x.name and x.macro ~= named.macro
      return true
    end)
    return is_macro and named or v
  elseif kind == "ConditionalOperator" then
    local condition = eval(node_of(node.children[1]))
    local ends = { eval(node_of(node.children[2])), eval(node_of(node.children[3])) }
    local is_one = is_number(condition) and condition.op and is_plain(ends[1]) and is_plain(ends[2]) and ends[1].n + ends[2].n == 1
    if is_one then return ends[1].n == 1 and condition or computed("==", condition, literal(0)) end
    local bound = values.min_or_max(condition, ends[1], ends[2])
    if bound then return bound end
    local holds = truth(condition)
    if holds ~= nil then
      local v, note = ends[holds and 1 or 2], values.choice(condition, node_of(node.children[1]))
      if not note or not is_number(v) or not v or v.name or v.macro then return v end
      v = early.copied(v)
      v.note = note
      return v
    end
    local a, b
    alternatives({ function() a = eval(node_of(node.children[2])) end, function() b = eval(node_of(node.children[3])) end }, node)
    return merged(a, b, node)
  elseif kind == "CallExpr" then
    local v, status = call(node)
    if status == "exit" then state.ended = true end -- ends the current statement, too
    return v
  elseif kind == "InitListExpr" then
    return list_of(node)
  elseif kind == "LambdaExpr" then
    return { lambda = node, frame = state.frame }
  elseif kind == "CXXThisExpr" then
    return { to = state.frame.this }
  elseif kind == "CXXNewExpr" then
    local count
    for _, id in ipairs(node.children) do
      local child = node_of(id)
      if not string.find(child.kind, "Ref$") and child.kind ~= "CallExpr" and child.kind ~= "InitListExpr" then count = count or eval(child) end
    end
    if count and is_number(count) then return library.new_object(computed("*", count, literal(node.pointee_bytes or 1)), node, count) end
    return { to = { v = last(node) and last(node).kind == "CallExpr" and eval(last(node)) or { fields = {} } } }
  end
  local v = nil
  for _, id in ipairs(node.children) do v = eval(node_of(id)) end
  return #node.children == 1 and v or open_value(nil, node)
end

-- Returns the cell and the value of the statement `variable = value`, whose value has no side effects; otherwise nil.
local function assigned(node)
  while node and (node.kind == "CompoundStmt" and #node.children == 1 or node.kind == "UnexposedExpr") do node = last(node) end
  if not node or node.kind ~= "BinaryOperator" or node.op ~= "=" then return nil end
  local source = last(node)
  while source.kind == "UnexposedExpr" or string.find(source.kind, "Cast") or source.kind == "ParenExpr" do source = last(source) end
  if source.kind == "IntegerLiteral" or source.kind == "DeclRefExpr" then return cell_of(node_of(node.children[1])), eval(last(node)) end
end

-- Adds the remark `text` to the variables that a statement sets.
local function note_choice(node, text)
  local target = node.kind == "BinaryOperator" and node.op == "=" and node_of(node.children[1])
  local frame = target and target.kind == "DeclRefExpr" and state.frame
  while frame and not frame.cells[target.ref] do frame = frame.up end
  local v = frame and frame.cells[target.ref].v
  if is_number(v) and v and v.name then v.note = v.note or text end
  for _, id in ipairs(node.children) do note_choice(node_of(id), text) end
end

local function switch(node)
  local v, body = eval(node_of(node.children[#node.children - 1])), last(node)
  local ways, all, taken = {}, {}, nil
  local function flatten(n) -- In Clang's tree, a case without a statement contains the next case.
    all[#all + 1] = n
    if n.kind == "CaseStmt" or n.kind == "DefaultStmt" then
      local label = n.kind == "CaseStmt" and eval(node_of(n.children[1])) or nil
      ways[#ways + 1] = { at = #all, label = label and label.n }
      flatten(last(n))
    end
  end
  for _, id in ipairs(body and body.children or {}) do flatten(node_of(id)) end
  local function run(from)
    for i = from, #all do
      if all[i].kind ~= "CaseStmt" and all[i].kind ~= "DefaultStmt" then
        local status = exec(all[i])
        if status then return status ~= "break" and status or nil end
      end
    end
  end
  if v and v.n then
    for _, way in ipairs(ways) do
      if way.label == v.n or way.label == nil and not taken then taken = way end
    end
    return taken and run(taken.at) or nil
  end
  local list, has_default = {}, false
  for i, way in ipairs(ways) do
    list[i], has_default = function() return run(way.at) end, has_default or way.label == nil
  end
  if not has_default then list[#list + 1] = function() end end
  return alternatives(list, node)
end

-- Runs a loop over a list. Of an unknown list, it runs the body for an unknown item.
local function each_of(node)
  local variable, v, status
  for i, id in ipairs(node.children) do
    local child = node_of(id)
    if child.kind == "VarDecl" then variable = child elseif i < #node.children and not string.find(child.kind, "Stmt$") then v = eval(child) end
  end
  local items = v and (v.items or v.object and v.object.is_host and v.object.cells) or {}
  local count = 0
  while items[count] and count < MOST_ROUNDS do
    local item = given(variable.name, items[count].v, variable)
    if is_number(item) and #items > 0 then item.note = "one of several" end
    state.frame.cells[variable.id] = { v = item, name = variable.name }
    count, status = count + 1, exec(last(node))
    if status == "return" or status == "exit" then return status end
    if status == "break" then return nil end
  end
  if count > 0 then return nil end
  state.frame.cells[variable.id] = { v = open_value(variable.name, node, "one of several"), name = variable.name }
  return alternatives({ function() return exec(last(node)) end, function() end }, node)
end

function exec(node)
  local kind = node.kind
  if state.ended then return "exit" end
  if kind == "CompoundStmt" then
    for _, id in ipairs(node.children) do
      local status = exec(node_of(id))
      if status then return status end
    end
    return nil
  elseif kind == "DeclStmt" then
    for _, id in ipairs(node.children) do
      if node_of(id).kind == "VarDecl" then declare(state.frame, node_of(id)) end
    end
  elseif kind == "ReturnStmt" then
    local v = last(node) and eval(last(node))
    state.frame.results[#state.frame.results + 1] = v
    return not state.ended and "return" or "exit"
  elseif kind == "BreakStmt" then
    return "break"
  elseif kind == "ContinueStmt" then
    return "continue"
  elseif kind == "IfStmt" then
    local list = {}
    for i, id in ipairs(node.children) do
      local child = node_of(id)
      if child.kind == "DeclStmt" then exec(child) elseif child.kind == "VarDecl" then declare(state.frame, child) else list[#list + 1] = child end
    end
    local condition = eval(list[1])
    local holds = truth(condition)
    if state.ended then return "exit" end
    local cell, v = assigned(list[2])
    local bound = cell and not list[3] and values.min_or_max(condition, v, cell.v)
    if bound then
      write(cell, given(cell.name, bound, list[2]))
      return nil
    end
    if #list == 2 and state.uncertain == 0 and syntax.always_ends(list[2]) then values.unify(condition) end
    if holds ~= nil then
      local chosen = list[holds and 2 or 3]
      local status, note = chosen and exec(chosen), values.choice(condition, list[1])
      for i = 2, note and #list or 0 do note_choice(list[i], note) end
      return status
    end
    local function way(child)
      return function() return child and exec(child) end
    end
    return alternatives({ way(list[2]), way(list[3]) }, node)
  elseif kind == "ForStmt" then
    local init, cond, inc, body = syntax.parts_of_for(node)
    if init then
      if init.kind == "DeclStmt" then exec(init) else eval(init) end
      local variable = init.kind == "DeclStmt" and last(init) or init.op == "=" and node_of(init.children[1]) or nil
      local v = variable and find_cell(variable.ref or variable.id).v
      if is_number(v) and v.name then v.note = v.note or "the first value in a loop" end
    end
    return loop(node, cond, inc, body)
  elseif kind == "WhileStmt" then
    return loop(node, node_of(node.children[1]), nil, last(node))
  elseif kind == "DoStmt" then
    return loop(node, last(node), nil, node_of(node.children[1]), true)
  elseif kind == "CXXForRangeStmt" then
    return each_of(node)
  elseif kind == "SwitchStmt" then
    return switch(node)
  elseif kind == "CXXTryStmt" or kind == "LabelStmt" then
    return last(node) and exec(kind == "CXXTryStmt" and node_of(node.children[1]) or last(node))
  elseif kind ~= "NullStmt" then
    eval(node)
  end
  return state.ended and "exit" or nil
end

--- Runs the host code until it launches the kernel `wanted`. Returns the launches, each { name, decl, grid, block,
--- shared, args, at, text, uncertain }. `macros` maps the name of a macro or constant with a number, and each place
--- "file:line" where it is used, to { name, n, at }. With `recurs`, follows functions that call themselves.
local function run(wanted, macros, recurs)
  if not recurs then syntax.parse() end
  state = { steps = 0, depth = 0, globals = { cells = {} }, launches = { values = {}, places = {}, constants = {} }, called = {}, active = {}, recurs = recurs, uncertain = 0, macros = macros }
  local functions = syntax.host_functions(host.syntax(), {})
  local function start(decl)
    for _, one in ipairs(state.launches) do
      if one.name == wanted and one.within == "main" then return end
    end
    if state.called[decl.id] or state.steps > MOST_STEPS then return end
    state.ended, memory.trail, state.rounds, state.frame = false, nil, nil, nil
    state.within = decl.name
    invoke(decl, decl.name == "main" and library.arguments_of_main(decl) or {}, { v = { fields = {} } }, decl)
  end
  for _, decl in ipairs(functions) do
    if decl.name == "main" then start(decl) end
  end
  for _, decl in ipairs(functions) do start(decl) end
  for _, one in ipairs(state.launches) do
    if one.name == wanted or recurs then return state.launches end
  end
  return recurs and state.launches or run(wanted, macros, true)
end

return { run = run }
