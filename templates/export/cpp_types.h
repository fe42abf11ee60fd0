% -- Declares the types of the pattern `p` in C++17: an enumeration for each column of words, and `config`.
% local c = require "lib.c_text"
#if defined(__CUDACC__)
#define AUTOTUNE_CONSTEXPR constexpr __host__ __device__
#else
#define AUTOTUNE_CONSTEXPR constexpr
#endif

#ifndef AUTOTUNE_TYPES_${p.name}
#define AUTOTUNE_TYPES_${p.name}
namespace autotune_${p.name} {
% for _, columns in ipairs { p.variables, p.parameters } do
%   for _, column in ipairs(columns) do
%     if not column.c_type then

enum ${c.type(p, column)} {
%       for i, word in ipairs(column.words) do
    ${c.constant(p, column, word)}${i < #column.words and "," or ""}
%       end
};
%     end
%   end
% end

struct config {
% for _, column in ipairs(p.parameters) do
    ${c.type(p, column)} ${column.identifier};
% end
};
} // namespace autotune_${p.name}
#endif
