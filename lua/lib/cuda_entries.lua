-- The addresses of kernels in an exported .cu file.
--
-- A plain name is enough for most kernels. An instance of a template, a kernel in a namespace, and an overloaded kernel
-- need an expression, which is only valid beside the kernel's source: a function there returns the address. Among
-- kernels that are written as PTX such a kernel is called autotune_ptx_<entry>.

local entries = {}

local function is_word(name)
  return string.find(name, "^[%a_][%w_]*$") ~= nil
end

--- The functions of a kernel's source, for its entries; "" for entries without a function.
function entries.functions(names, is_ptx)
  local out = {}
  for e, name in ipairs(names) do
    if string.find(name, "^_Z") then
      refuse("the kernel '" .. name .. "' is named as in machine code: name it as C++ does, for example 'ns::scale<64>'")
    end
    if name ~= "" and not is_word(name) then
      out[#out + 1] = string.format(
        "static const void *autotune_entry_%d()\n{\n    return reinterpret_cast<const void *>(%s);\n}", e - 1,
        is_ptx and "autotune_ptx_" .. e - 1 or name)
    end
  end
  return table.concat(out, "\n")
end

--- The address of entry `e` of source `k` of a pattern, both from 1.
function entries.address(pattern, k, e, name)
  local space = "autotune_" .. pattern .. "_kernel_" .. k - 1 .. "::"
  if is_word(name) then return "reinterpret_cast<const void *>(&" .. space .. name .. ")" end
  return space .. "autotune_entry_" .. e - 1 .. "()"
end

return entries
