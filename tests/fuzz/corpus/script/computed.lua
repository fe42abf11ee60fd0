local at = require "autotune"
local space = {}
for _, name in ipairs { "a", "b" } do space[name] = at.range(1, 3) end
return at.pattern {
  name = "p", problem = { n = 10, on = true, f = 0.5, s = "x" }, ragged = { n = 3 },
  space = space, where = "a <= b or not on", baseline = { a = 1, b = 1 },
  buffers = { x = at.inout { dtype = "'float'", count = "n * n", shape = { "n", "n" } },
              i = at.input { dtype = "int32", count = "n", fill = "modulo", limit = "n" } },
  kernel = { template = "scale_ref.cu.tmpl", args = { "x", "n", at.float "f", "on", at.int64(3) },
             shared = "a * 4", options = { "-DA=${a}" } },
  launch = { grid = { "n", 2 }, block = { 32, "b" } },
}
