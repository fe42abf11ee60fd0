-- Members of a T1 file (t1.lua), and the expressions in them: what is wrong is told with the file's line.

local host = ...

local check = host.own "check.lua"
local python = host.own "python.lua"
local show, meant = check.show, check.meant

local members = {}

local function fail(node, ...)
  host.fail(node.line, string.format(...))
end

local function warn(node, ...)
  host.warn(node.line, string.format(...))
end

local EXAMPLES = {
  object = "an object { ... }", array = "a list [ ... ]", string = "a text in quotes", number = "a number",
}

function members.expect(node, kind, what)
  if node.kind ~= kind then
    local article = (node.kind == "array" or node.kind == "object") and "an " or "a "
    fail(node, "%s is %s; it must be %s", what, node.kind == "null" and "null" or article .. node.kind, EXAMPLES[kind])
  end
  return node
end

--- The member `name` of an object that messages call `what`, of the kind `kind` where that is given; nil
--- where it is missing or null.
function members.member(object, name, kind, what)
  local v = object.value[name]
  if not v or v.kind == "null" then return nil end
  return kind and members.expect(v, kind, name .. " of " .. what) or v
end

function members.needed(object, name, kind, what)
  local v = members.member(object, name, kind, what)
  if not v then fail(object, "%s has no \"%s\"", what, name) end
  return v
end

--- A word of a list; `otherwise` where there is none.
function members.word(object, name, words, otherwise, what)
  local v = members.member(object, name, "string", what)
  if not v then return otherwise end
  for _, w in ipairs(words) do
    if w == v.value then return w end
  end
  fail(v, "%s of %s is %s; it can be %s%s", name, what, show(v.value), table.concat(words, ", "),
       meant(v.value, words))
end

--- A member that the format does not have may be a misspelt one, which would change what is tuned.
function members.tell_unknown(object, known, what)
  for _, name in ipairs(object.names) do
    local found = false
    for _, one in ipairs(known) do found = found or one == name end
    if not found then
      local v = object.value[name]
      local nearest = host.nearest(name, known)
      local is_empty = v.kind == "null" or type(v.value) == "table" and #v.value == 0 and not v.names
      if nearest and not object.value[nearest] and not is_empty then
        fail(v, "%s has no member \"%s\"; did you mean \"%s\"?", what, name, nearest)
      end
      warn(v, "\"%s\" of %s is not read: the format has no such member", name, what)
    end
  end
end

--- What to do with what is wrong with the expression of `node`.
function members.failing(node, what)
  return function(message) fail(node, "%s: \"%s\": %s", what, node.value, message) end
end

--- An expression's tree: of a text, or of a number.
function members.tree(node, what)
  if node.kind == "number" then
    return { op = math.type(node.value) == "integer" and "whole" or "number", value = node.value, name = "" }
  end
  members.expect(node, "string", what)
  return python.read(node.value, members.failing(node, what))
end

--- What an expression gives that reads nothing.
function members.constant(node, what)
  return python.evaluate(members.tree(node, what), {}, members.failing(node, what))
end

--- Refuses a tree that reads what is in none of the sets (tables by name) of `known`.
function members.check_names(node, tree, known, what)
  for name in pairs(python.names(tree)) do
    local found, names = false, {}
    for _, set in ipairs(known) do
      found = found or set[name] ~= nil
      for one in pairs(set) do names[#names + 1] = one end
    end
    if not found then
      fail(node, "%s: \"%s\": there is no '%s' here%s", what, node.value, name, meant(name, names))
    end
  end
end

members.fail, members.warn = fail, warn
return members
