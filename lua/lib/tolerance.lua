-- Reads the tolerance of results, for the whole pattern and for each buffer. autotune.lua documents the functions for
-- scripts.

local host = ...

local check = host.own "check.lua"
local fail, show, KIND, expression = check.fail, check.show, check.KIND, check.expression

local tolerance = {}

local function limited(how, example)
  return function(limit)
    if type(limit) ~= "number" and type(limit) ~= "string" then
      error(string.format("at.%s takes a number or an expression, not %s: %s", how,
                          limit == nil and "nothing" or show(limit), example), 2)
    end
    return { [KIND] = "tolerance", how = how, limit = limit }
  end
end

--- Allows an error of `limit` times the magnitude of the expected element.
tolerance.relative = limited("relative", "at.relative(1e-5)")
--- Allows an error of `limit`.
tolerance.absolute = limited("absolute", "at.absolute(1e-6)")
--- Allows a distance of `limit` representable values; for integers, a difference of `limit`.
tolerance.ulps = limited("ulps", "at.ulps(4)")

--- Allows `amount` elements (or, below 1, this share of the elements) to exceed the tolerance `nearness`.
function tolerance.mismatches(amount, nearness)
  if type(amount) ~= "number" and type(amount) ~= "string" then
    error(string.format("at.mismatches takes a share or a number of elements, not %s: "
                        .. "at.mismatches(1e-6) or at.mismatches(3, at.ulps(4))",
                        amount == nil and "nothing" or show(amount)), 2)
  end
  if nearness == nil then nearness = 0 end
  if type(nearness) == "table" and nearness.amount ~= nil then
    error("at.mismatches must not contain another at.mismatches; write for example at.mismatches(1e-6, at.ulps(4))", 2)
  end
  return { [KIND] = "tolerance", amount = amount, nearness = nearness }
end

--- Reads a tolerance: a number is an error relative to the largest magnitude; other tolerances come from the functions
--- above.
function tolerance.read(given, path)
  if type(given) == "table" and given[KIND] == "tolerance" then
    if given.amount == nil then return { how = given.how, limit = expression(given.limit, path) } end
    local t = tolerance.read(given.nearness, path)
    t.mismatches = expression(given.amount, path)
    return t
  end
  if type(given) ~= "number" and type(given) ~= "string" then
    fail(path, " is %s; write 0, an error relative to the largest magnitude such as 1e-5, or "
               .. "at.relative(1e-5), at.absolute(1e-6), at.ulps(4), at.mismatches(1e-6)", show(given))
  end
  return { how = "scaled", limit = expression(given, path) }
end

return tolerance
