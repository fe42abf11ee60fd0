-- A synthetic space of 10^9 points, of which about 10^5 are valid.
local at = require "autotune"

return at.pattern {
  name = "billion",
  summary = "Nine parameters of ten values and constraints that leave one point in 10^4",
  problem = { n = 1024 },

  space = {
    a = at.range(1, 10),
    b = at.range(1, 10),
    c = at.range(1, 10),
    d = at.range(1, 10),
    e = at.range(1, 10),
    f = at.range(1, 10),
    g = at.range(1, 10),
    h = at.range(1, 10),
    i = at.range(1, 10),
  },
  where = {
    "a % b == 0",
    "b * c <= 12",
    "(c + d) % 4 == 0",
    "d * e * f <= 60",
    "f % g == 0",
    "(g + h) % 3 == 1",
    "h + i == 11 or h == i",
    "a + e + i <= 18",
  },
  baseline = {
    a = 1, b = 1, c = 1, d = 3, e = 1, f = 1, g = 1, h = 3, i = 3,
  },

  buffers = { out = at.output { dtype = "float", count = "n" } },
  kernel = { template = "spaces_only.cu.tmpl", entry = "nothing", args = { "out" } },
  launch = { grid = "1", block = "32" },
  traffic = "4",
}
