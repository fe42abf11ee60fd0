-- autotune export: chooses C names for a pattern's columns and for its launch's buffers.

local identifiers = require "lib.identifiers"

return function(given)
  return { columns = identifiers.columns(given.columns, given.element_types), buffers = identifiers.named(given.buffers) }
end
