-- autotune export: the names of a pattern's columns, and of the buffers of its launch, in C.

local identifiers = require "lib.identifiers"

return function(given)
  return { columns = identifiers.columns(given.columns, given.element_types), buffers = identifiers.named(given.buffers) }
end
