-- Reads transfer = { ... }: the data in host memory, and how a variant copies it to the device or back.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local expression = check.expression

local FIELDS = {
  "from", "to", "direction", "pieces", "pitch_bytes", "memory", "staging", "chunk_bytes", "streams",
}
local DIRECTIONS = { "to_device", "to_host", "both" }
local MEMORIES = { "pageable", "pinned", "write_combined", "mapped" }
local STAGINGS = { "none", "pinned", "write_combined" }

local function read_end(given, path, role, buffers)
  local names = {}
  for i, buffer in ipairs(buffers) do
    names[i] = buffer.name
    if buffer.name == given and buffer.role ~= role then
      fail(path, "%s is at.%s; a transfer moves data from an at.input to an at.output", given, buffer.role)
    end
    if buffer.name == given then return i end
  end
  fail(path, " is %s; write the name of a buffer%s", given == nil and "missing" or show(given),
       meant(tostring(given), names))
end

return function(description, buffers, taken)
  local path, given = { "transfer" }, description.transfer
  if given == nil then return nil end
  check.table(given, path, "transfer = { from = \"src\", to = \"dst\", direction = \"to_device\", memory = \"memory\" }")
  check.fields(given, path, FIELDS)
  if description.layout ~= nil then
    fail({ "layout" }, " must be left out: a pattern with a transfer cannot have a data layout as parameter")
  end
  local function word(field, words, default)
    local v = given[field]
    if v == nil then v = default end
    if v == nil then
      fail(child(path, field), " is missing; write one of %s, or an expression that gives one",
           table.concat(words, ", "))
    end
    return check.word(v, child(path, field), words, taken)
  end
  local function number(field, default)
    local v = given[field]
    if v == nil then v = default end
    return expression(v, child(path, field))
  end
  return {
    line = check.line_of(path),
    from = read_end(given.from, child(path, "from"), "input", buffers),
    to = read_end(given.to, child(path, "to"), "output", buffers),
    direction = word("direction", DIRECTIONS),
    pieces = number("pieces", 1),
    pitch_bytes = number("pitch_bytes", 0),
    memory = word("memory", MEMORIES),
    staging = word("staging", STAGINGS, "none"),
    chunk_bytes = number("chunk_bytes", 0),
    streams = number("streams", 1),
  }
end
