local at = require 'autotune'
return at.pattern { name = 'p', problem = {}, space = { { 't', { 1, 2.5, 'x', true } }, { 'u', 7 } },
  baseline = { t = 1 }, starts = { { t = 'x' }, { u = 7 } }, where = { "t == 1 or t == 'x'", 'u > 6 and ceil_div(u, 2) == 4' },
  kernel = { template = 'scale.cu.tmpl' } }
