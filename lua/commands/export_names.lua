-- autotune export: the C names of a pattern's columns and of its launch's buffers.

local identifiers = require "lib.identifiers"

return function(given)
  return { columns = identifiers.columns(given.columns, given.element_types), buffers = identifiers.named(given.buffers) }
end
