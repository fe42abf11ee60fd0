-- Parses the host code of a kernel's file, and reads its syntax tree. Hides how names are handled that neither the file
-- nor toolkit.h declares, such as those of headers that are not here: each is declared as what the file uses it for, a
-- function, a type, a namespace or a value of any type, and the file is parsed again. Otherwise its statements would be
-- missing from the tree.

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
local function parse()
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

-- ---- the tree ----

local nodes = {}

local function node_of(id)
  local found = nodes[id]
  if not found then
    found = host.syntax(id)
    found.id = id
    if (found.kind == "BinaryOperator" or found.kind == "CompoundAssignOperator" or found.kind == "UnaryOperator") and found.name ~= "" then
      found.op = found.name
    end
    nodes[id] = found
  end
  return found
end

local function place(node)
  return string.match(node.file or "", "([^/]*)$") .. ":" .. (node.line or 0)
end

local function text_of(node)
  return (string.gsub(host.syntax_text(node.id), "%s+", " "))
end

local function last(node) return node.children[#node.children] and node_of(node.children[#node.children]) end

-- Returns a function's body. If Clang has not instantiated a function template, returns the template's body.
local function body_of(decl)
  local body = last(decl)
  if body and body.kind == "CompoundStmt" then return body end
  local template = decl.template and decl.template ~= decl.id and node_of(decl.template)
  return template and body_of(template) or nil
end

local function parameters_of(decl)
  local list = {}
  for _, id in ipairs(decl.children) do
    if node_of(id).kind == "ParmDecl" then list[#list + 1] = node_of(id) end
  end
  return list
end

-- Returns the function that an expression names, its name, and the expression's node.
local function kernel_of(callee)
  while callee do
    if callee.kind == "OverloadedDeclRef" then return nil, callee.name end
    if callee.kind == "DeclRefExpr" and callee.ref then
      local decl = node_of(callee.ref)
      if decl.kind ~= "OverloadedDeclRef" then return decl, decl.name, callee end
      return nil, decl.name, callee
    end
    callee = callee.children[1] and node_of(callee.children[1])
  end
end

-- Returns the parts of for (init; cond; step) and the body. Each part may be nil.
local function parts_of_for(node)
  local list = {}
  for i, id in ipairs(node.children) do list[i] = node_of(id) end
  local body, init = table.remove(list), nil
  local function sets(n) return n.kind == "DeclStmt" or (n.kind == "BinaryOperator" and (n.op == "=" or n.op == ",")) end
  if list[1] and sets(list[1]) then init = table.remove(list, 1) end
  local function compares(n) return n.kind ~= "CompoundAssignOperator" and not (n.kind == "UnaryOperator" and (n.op == "++" or n.op == "--")) end
  local cond = list[1] and compares(list[1]) and table.remove(list, 1) or nil
  return init, cond, list[1], body
end

-- Tells whether a statement ends the function or the program.
local function always_ends(node)
  if node.kind == "CompoundStmt" then node = last(node) end
  return node ~= nil and (node.kind == "ReturnStmt" or node.kind == "CXXThrowExpr" or node.kind == "CallExpr" and (node.name == "exit" or node.name == "abort"))
end

local function has_attribute(decl, name)
  for _, id in ipairs(decl.children) do
    if node_of(id).kind == "attribute(" .. name .. ")" then return true end
  end
  return false
end

-- Tells whether toolkit.h declares this instead of the Toolkit or the standard library.
local function is_replaced(decl) return string.find(decl.file or "", "kernel_file/toolkit.h", 1, true) ~= nil end

-- Tells whether a header that is not here declares this.
local function is_unknown(decl) return string.find(decl.file or "", "/autotune/unknown.h", 1, true) ~= nil end

--- Returns the names of the parameters of a class template of the file; nil if there is no such template.
local function template_parameters(name, within)
  for _, id in ipairs((within or host.syntax()).children) do
    local decl, list = node_of(id), {}
    if decl.kind == "ClassTemplate" and decl.name == name then
      for _, inner in ipairs(decl.children) do
        local parameter = node_of(inner)
        if string.find(parameter.kind, "^%w*Template%w*Parameter$") then list[#list + 1] = parameter.name end
      end
      return list
    end
    list = decl.kind == "Namespace" and template_parameters(name, decl)
    if list then return list end
  end
end

-- Lists the host functions that have a body, in the order of the file.
local function host_functions(root, list)
  for _, id in ipairs(root.children) do
    local decl = node_of(id)
    if not is_replaced(decl) then
      if decl.kind == "Namespace" or decl.kind == "LinkageSpec" or decl.kind == "StructDecl" or decl.kind == "ClassDecl" or decl.kind == "UnexposedDecl" then
        host_functions(decl, list)
      elseif (decl.kind == "FunctionDecl" or decl.kind == "FunctionTemplate" or decl.kind == "CXXMethod") and body_of(decl)
        and not has_attribute(decl, "global") and not has_attribute(decl, "device") then
        list[#list + 1] = decl
      end
    end
  end
  return list
end

-- ---- the kernel's own code ----

-- Returns whether a call may write to its k-th child: the object of a method, or an argument passed by reference.
local function may_write(node, k)
  local decl = node.ref and node_of(node.ref)
  if not decl then return false end
  if k == 1 then return decl.kind == "CXXMethod" and not string.find(decl.type, "const$") end
  local p = parameters_of(decl)[k - 1]
  return p ~= nil and string.find(p.type, "&$") and not string.find(p.type, "^const ")
end

local only_use

-- Returns "read" or "write" if a call does only that through the pointer that is its i-th argument; nil if it does both or
-- the code does not tell.
local function passed_use(call, i, depth, field)
  local decl = call.ref and node_of(call.ref)
  local type = decl and not is_unknown(decl) and parameters_of(decl)[i] and parameters_of(decl)[i].type or ""
  if string.find(type, "^const .*%*$") then return "read" end
  local passes = string.find(type, "%*$") or field and type ~= "" and not string.find(type, "&$")
  return passes and body_of(decl) and depth < 4 and only_use(decl, i, host.syntax_text(decl.id), depth + 1, field) or nil
end

-- Returns "read" or "write" if the kernel does only that through its i-th parameter, or through the member `field` of this
-- parameter; nil if it does both or the code does not tell.
function only_use(decl, i, text, depth, field)
  local parameter, seen, uses = decl and parameters_of(decl)[i], 0, {}
  if not parameter then return nil end
  local function walk(node, use)
    local kind, base = node.kind, field and node.kind == "MemberRefExpr" and last(node)
    local is_other = base and base.kind == "DeclRefExpr" and base.ref == parameter.id and node.name ~= field
    if is_other or kind == "DeclRefExpr" and node.ref == parameter.id then
      seen, uses[is_other and "other" or use] = seen + 1, true
      return
    end
    for k, id in ipairs(node.children) do
      local child, inner = node_of(id), "value"
      local copies = kind == "CallExpr" and field and #node.arguments == 1 and node.ref and node_of(node.ref).kind == "CXXConstructor"
      local passes = copies or kind == "ParenExpr" or kind == "UnexposedExpr" or string.find(kind, "Cast") or kind == "MemberRefExpr"
      if passes then inner = use
      elseif kind == "ArraySubscriptExpr" and k == 1 or kind == "UnaryOperator" and node.op == "*" then inner = use == "value" and "read" or use
      elseif kind == "BinaryOperator" and node.op == "=" and k == 1 or node.name == "operator=" and id == node.arguments[1] then inner = use == "value" and "write" or "both"
      elseif kind == "BinaryOperator" and (node.op == "+" or node.op == "-") and string.find(child.type, "[*%]]") then inner = use
      elseif kind == "CompoundAssignOperator" and k == 1 then inner = "both"
      elseif kind == "CallExpr" and use == "value" and k > 1 and passed_use(node, k - 1, depth or 0, field) then inner = passed_use(node, k - 1, depth or 0, field)
      elseif kind == "CallExpr" and (may_write(node, k) or string.find(node.name, "^operator[^%[%(]") and id == node.arguments[1]) then inner = "both"
      elseif kind == "UnaryOperator" and node.op == "&" and use ~= "value" then inner = use
      elseif kind == "UnaryOperator" and (node.op == "&" or node.op == "++" or node.op == "--") then inner = "both" end
      walk(child, inner)
    end
  end
  local body = body_of(decl)
  if body then walk(body, "value") end
  local plain, words = string.gsub(string.gsub(string.gsub(text, "/%*.-%*/", " "), "//[^\n]*", " "), '"[^"\n]*"', " "), 0
  for _ in string.gmatch(plain, "%f[%w_.]" .. parameter.name .. "%f[^%w_]") do words = words + 1 end
  local is_one = not (uses.both or uses.value or uses.read and uses.write) and seen + 1 == words
  return is_one and (uses.write and "write" or "read") or nil
end

return {
  parse = parse, node_of = node_of, place = place, text_of = text_of, last = last, body_of = body_of, parameters_of = parameters_of,
  always_ends = always_ends, kernel_of = kernel_of, parts_of_for = parts_of_for, template_parameters = template_parameters, is_replaced = is_replaced, is_unknown = is_unknown, only_use = only_use, host_functions = host_functions,
}
