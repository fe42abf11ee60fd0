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

return {
  parse = parse, node_of = node_of, place = place, text_of = text_of, last = last, body_of = body_of, parameters_of = parameters_of,
  always_ends = always_ends, kernel_of = kernel_of, parts_of_for = parts_of_for, is_replaced = is_replaced, is_unknown = is_unknown, host_functions = host_functions,
}
