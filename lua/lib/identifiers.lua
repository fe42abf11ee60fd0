-- Makes unique identifiers of C and C++ for the names and texts of records and scripts.

local c = require "lib.c_text"
local MACROS = require "lib.reserved_names"

local identifiers = {}

-- The keywords of C23 and C++20, and types that an exported file uses.
local KEYWORDS = [[
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
default delete do double dynamic_cast else enum errno explicit export extern false float for friend goto i386
if inline int linux long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
struct switch template this thread_local throw true try typedef typeid typename typeof union unix unsigned
using virtual void volatile wchar_t while xor xor_eq imaginary int64_t offsetof size_t strdupa strndupa
typeof_unqual
]]

-- Patterns of names that may be macros. With new releases of headers, some families get new macros.
local FAMILIES = {
  "^M_1_PI", "^M_2_PI", "^M_2_SQRTPI", "^M_E$", "^M_E[fl]", "^M_LN", "^M_LOG", "^M_PI", "^M_SQRT",
  "^HUGE_VAL", "^SNAN", "^DBL_", "^FLT_", "^LDBL_", "^FE_", "^LC_", "^PRI[diouxX]", "^SCN[dioux]", "^SIG_",
  "^SIGEV_", "^SI_", "^si_", "^SEGV_", "^ILL_", "^FPE_", "^SYS_", "^MPI_", "^MPIO_", "^OMPI_", "^OPAL_",
  "^PTHREAD_", "^STATX_", "^CLONE_", "^MADV_", "^AF_", "^PF_", "^IP_", "^IPV6_", "^IPPROTO_", "^INADDR_",
  "^SOL_", "^SCM_", "^MCAST_", "^RTLD_", "^ADJ_", "^FALLOC_", "^POSIX_", "^SIOC", "^TIOC", "^TCSET", "^TCGET",
  "^cu[A-Z]", "^cuda[A-Z]", "^cublas[A-Z]", "^CUDART_", "^CUBLAS_", "^CUFFT_", "^CURAND_", "^CUSPARSE_",
  "^THRUST_", "^CCCL_", "^LIBCUDACXX_", "^NV_", "^NVML_", "^NVTX_", "^NVTX3_",
}

-- Endings of macros in <stdint.h> and <limits.h>: INT32_MAX, UINT8_C, CHAR_BIT.
local LIMITS = { _MAX = true, _MIN = true, _WIDTH = true, _C = true, _BIT = true }

-- The largest length of a stem: with a number after the stem, an identifier still fits into EXPORT_IDENTIFIER_BYTES.
local STEM_BYTES = 71

-- Returns the names in one line, with a blank before and after each.
local function listed(names)
  return " " .. string.gsub(names, "\n", " ") .. " "
end

local RESERVED = listed(MACROS) .. listed(KEYWORDS)

local function is_reserved(name)
  if not string.find(name, "%l") and LIMITS[string.match(name, "_[^_]*$") or ""] then return true end
  for _, family in ipairs(FAMILIES) do
    if string.find(name, family) then return true end
  end
  return string.find(RESERVED, " " .. name .. " ", 1, true) ~= nil
end

-- Returns the identifier for a name, without the number that unique() may add. Avoids names that start with an underscore,
-- which may be macros of the compiler (__LINE__), and names that start like the exported header's own names.
local function stem_of(name)
  local prefixed = string.find(name, "^_") or string.lower(string.sub(name, 1, 8)) == "autotune"
  return string.sub((prefixed and "p" or "") .. name .. (is_reserved(name) and "_" or ""), 1, STEM_BYTES)
end

-- Returns the stem or, if `taken` has it, the stem with a number. `key` turns a name into the text that must be unique.
local function unique(stem, taken, key)
  local name, number = stem, 1
  while taken[key(name)] do
    number = number + 1
    name = stem .. "_" .. number
  end
  taken[key(name)] = true
  return name
end

local function same(name) return name end

--- named(list): returns a unique identifier for each name of the list.
function identifiers.named(list)
  local out, taken = {}, {}
  for i, name in ipairs(list) do out[i] = unique(stem_of(name), taken, same) end
  return out
end

-- ---- types ----

local WIDTH = { int = 1, int64_t = 2, double = 3 }

local function type_of(v)
  if type(v) == "boolean" then return "bool" end
  if type(v) == "string" then return "word" end
  if math.type(v) == "float" then return "double" end
  return v >= -2147483648 and v <= 2147483647 and "int" or "int64_t"
end

-- Returns the type that holds values of both types: the wider of two number types, or "word" if the kinds differ.
local function join(a, b)
  if a == b then return a end
  if WIDTH[a] and WIDTH[b] then return WIDTH[a] > WIDTH[b] and a or b end
  return "word"
end

local function is_element_type(v, element_types)
  for _, t in ipairs(element_types) do
    if t == v then return true end
  end
  return false
end

--- columns(list, element_types): returns `identifier`, `type`, `words` and `mixed` (some words are not texts) of each
--- column. Each column of the list has a `name`, `values` and `more`. The type holds all `values`. If the type is "word",
--- each value gets an identifier: first `values`, then `more`. A value in `more` that the type does not hold is refused.
--- `open` marks a variable of the problem: a caller may give a larger number or another element type.
function identifiers.columns(list, element_types)
  local out, taken, constants = {}, {}, {}
  for i, column in ipairs(list) do
    local values = column.values
    local of = { identifier = unique(stem_of(column.name), taken, same), type = "int", mixed = false, words = {} }
    for k, v in ipairs(values) do
      of.type = k == 1 and type_of(v) or join(of.type, type_of(v))
      of.mixed = of.mixed or type(v) ~= "string"
    end
    if column.open and of.type == "int" then of.type = "int64_t" end
    local known = {}
    local function add(v)
      local text = c.spelled(v)
      if known[text] then return end
      known[text] = true
      local stem = string.upper(string.sub(string.gsub(text, "[^%w]", "_"), 1, STEM_BYTES))
      local word = unique(stem == "" and "EMPTY" or stem, constants, function(name)
        return string.upper(of.identifier .. "_" .. name)
      end)
      table.insert(of.words, { text = text, identifier = word })
    end
    if of.type == "word" then
      for _, v in ipairs(values) do add(v) end
      if column.open and is_element_type(values[1], element_types) then
        for _, t in ipairs(element_types) do add(t) end
      end
      for _, v in ipairs(column.more) do add(v) end
    end
    for _, v in ipairs(column.more) do
      if join(of.type, type_of(v)) ~= of.type then refuse("'" .. column.name .. "' has values of another kind") end
    end
    out[i] = of
  end
  return out
end

return identifiers
