-- Reads off a kernel's own text how it is launched, where the file has no host code that does so: what blockIdx and threadIdx are
-- multiplied with, and what the places that come of it stay below. It is for a comment to start from, at which a person looks.

local host = ...

local early = host.own "early.lua"

local SIDES = { "x", "y", "z" }

local function without_comments(text)
  return (string.gsub(string.gsub(text, "/%*.-%*/", " "), "//[^\n]*", " "))
end

-- The factors of a place: "blockIdx.x * BLOCK * VEC" has BLOCK and VEC. `side` is x, y or z.
local function factors_of(statement, side)
  local factors = {}
  for word in string.gmatch(statement, "[%w_.]+") do
    if word ~= "blockIdx." .. side and word ~= "threadIdx." .. side and not string.find(word, "^%d") then factors[#factors + 1] = word end
  end
  return factors
end

-- What the place is computed by, and the variable that it is given to: int x = blockIdx.x * BLOCK + threadIdx.x;
local function place(text, side)
  local block, thread = "blockIdx%." .. side, "threadIdx%." .. side
  for name, value in string.gmatch(text, "([%a_][%w_]*)%s*=%s*([^=;{}][^;{}]*);") do
    if string.find(value, block) and string.find(value, thread) and not string.find(value, "[?\"&|]") then
      local product = string.match(value, block .. "%s*%*%s*([%w_.%s*]+)") or string.match(value, "([%w_.%s*]+)%*%s*" .. block)
      local after = string.match(value, "^%s*%b()%s*%*%s*([%w_]+)%s*$")
      return name, factors_of((product or "") .. " " .. (after or ""), side)
    end
  end
  return nil
end

-- What the variable stays below: i < n, i >= n, i + k < n.
local function bound_of(text, name)
  for _, pattern in ipairs { "%s*<%s*([%a_][%w_]*)", "%s*>=%s*([%a_][%w_]*)", "%s*%+%s*[%w_]+%s*<%s*([%a_][%w_]*)" } do
    local bound = string.match(text, "%f[%w_]" .. name .. pattern)
    if bound then return bound end
  end
  return nil
end

-- Beside the block's side in what a loop over the whole grid steps by: step = BLOCKS * BLOCK.
local function blocks_beside(text, own, is_number)
  for _, pattern in ipairs { "%f[%w_.]([%a_][%w_]*)%s*%*%s*" .. own .. "%f[^%w_]", "%f[%w_]" .. own .. "%s*%*%s*([%a_][%w_]*)%f[^%w_.]" } do
    for other in string.gmatch(text, pattern) do
      if is_number(other) then return other end
    end
  end
  return nil
end

-- The factor that is the block's side: one that is called so, else the first.
local function side_of(factors)
  for _, name in ipairs(factors) do
    local low = string.lower(name)
    if string.find(low, "block", 1, true) or string.find(low, "thread", 1, true) then return name end
  end
  return factors[1]
end

--- As kernel_launch.lua has it, of a kernel that is used with no launch in the file; nil: its text does not say. `knows` tells whether
--- a name is a parameter of the kernel or one of the file's numbers; `open` are names that nothing defines.
return function(kernel, knows, open)
  local text, block, grid, added, unknown = without_comments(kernel.text), {}, {}, {}, {}
  local sides, env, is_parameter = 0, { unknown = {}, before = "", passed = {} }, {}
  for _, p in ipairs(kernel.params) do is_parameter[p.name] = true end
  for i, side in ipairs(SIDES) do
    if string.find(text, "threadIdx%." .. side) or string.find(text, "blockIdx%." .. side) then sides = i end
  end
  local is_open = {}
  for _, name in ipairs(open) do is_open[name] = true end
  local function is_number(name) return is_open[name] or knows(name) end
  for i = 1, sides do
    local side = SIDES[i]
    local name, factors = place(text, side)
    if not name and string.find(text, "blockIdx%." .. side) then return nil end
    for k = #(factors or {}), 1, -1 do
      if not string.find(factors[k], "^blockDim%.") and not is_number(factors[k]) then return nil end
    end
    local own = factors and side_of(factors)
    if not own and block[1] and string.find(string.lower(block[1]), "x$") then -- threadIdx.y alone: the name beside the first side's
      local beside = string.gsub(block[1], ".$", string.find(block[1], "X$") and string.upper(side) or side)
      own = string.find(text, "threadIdx%." .. side) and is_number(beside) and beside or nil
    end
    if own and string.find(own, "^blockDim%.") or not own and string.find(text, "threadIdx%." .. side) then
      local parameter = sides > 1 and "BLOCK_" .. string.upper(side) or "BLOCK"
      added[#added + 1] = { name = parameter, value = early.SOME_THREADS[sides], text = parameter }
      own = parameter
    end
    local bound = name and bound_of(text, name)
    local blocks = name and not bound and own and blocks_beside(text, own, is_number)
    if name and not blocks and not (bound and knows(bound)) then return nil end
    if name and not blocks and not is_parameter[bound] then unknown[bound] = env end -- a macro that is a size
    for k, factor in ipairs(factors or {}) do factors[k] = string.find(factor, "^blockDim%.") and own or factor end
    block[i] = own or "1"
    grid[i] = blocks or name and "ceil_div(" .. bound .. ", " .. table.concat(factors, " * ") .. ")" or "1"
  end
  if sides == 0 or block[1] == "1" then return nil end
  while #grid > 1 and grid[#grid] == "1" do grid[#grid] = nil end
  while #block > 1 and block[#block] == "1" do block[#block] = nil end
  return { grid = grid, block = block, added = added, unknown = unknown, given = {}, env = env }
end
