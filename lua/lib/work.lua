-- Reads the work of a launch, from which rates are computed, and its ceiling: traffic, flops, items, ceiling.

local host = ...

local check = host.own "check.lua"
local fail, child, show = check.fail, check.child, check.show
local expression, optional = check.expression, check.optional

local work = {}

local MOST_LETTERS = 16

-- names of the ceilings, as in device/ceiling.c
local CEILINGS = {
  "none", "copy", "read", "write", "l2", "shared", "fp32", "fp64", "atomics", "host_to_device",
  "device_to_host", "launches", "pinned", "blocks", "round_trips", "pieces_read", "pieces_written",
  "one_word", "one_float", "one_double", "l1",
}

-- Reads items = { keys = "n" }: the name of the items, and the number of items in a launch.
local function read_items(given)
  local path = { "items" }
  if given == nil then return nil, "" end
  check.table(given, path, "items = { keys = \"n\" }: what is counted, and how many")
  local name, count, names = nil, nil, 0
  for key, v in pairs(given) do name, count, names = key, v, names + 1 end
  if names ~= 1 then
    fail(path, "%s; write one name and its number per launch, for example items = { keys = \"n\" }",
         names == 0 and " is empty" or " has more than one name")
  end
  if type(name) ~= "string" or #name > MOST_LETTERS or not string.find(name, "^%a[%w_]*$") then
    fail(path, "%s is not a valid name of items: use a word of at most %d letters, as in items = { keys = \"n\" }",
         show(name), MOST_LETTERS)
  end
  return expression(count, child(path, name)), name
end

-- Returns an example of `traffic` for a message: the bytes of all buffers, in the script's names.
local function example_of(description)
  local terms = {}
  local given = type(description.buffers) == "table" and description.buffers or {}
  for _, name in ipairs(check.ordered_keys(given, { "buffers" })) do
    local buffer = type(given[name]) == "table" and given[name] or {}
    local count, dtype = buffer.count, buffer.dtype
    if (type(count) == "string" or math.type(count) == "integer") and type(dtype) == "string" then
      local factor = string.find(tostring(count), "^[%w_]+$") and count or "(" .. count .. ")"
      local is_variable = type(description.problem) == "table" and description.problem[dtype] ~= nil
      terms[#terms + 1] = string.format(is_variable and "%s * sizeof(%s)" or "%s * sizeof('%s')", factor, dtype)
    end
  end
  return #terms > 0 and table.concat(terms, " + ") or "8 << 20"
end

--- Reads the four fields into the pattern `p`. `taken` has the names of the pattern.
function work.read(description, p, taken)
  p.traffic = optional(description.traffic, { "traffic" })
  p.flops = optional(description.flops, { "flops" })
  p.items, p.item = read_items(description.items)
  if not (p.traffic or p.flops or p.items) and p.measurable and p.has_reference then
    fail({}, "traffic is missing. Write the bytes that a perfect kernel must move, for example traffic = \"%s\", or "
      .. "give flops or items", example_of(description))
  end
  if description.ceiling ~= nil then
    p.ceiling = check.word(description.ceiling, { "ceiling" }, CEILINGS, taken)
  end
end

return work
