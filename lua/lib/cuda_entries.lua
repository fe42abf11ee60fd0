-- Writes the addresses of kernels in an exported .cu file.
--
-- The address of most kernels is their name. Instances of templates, kernels in namespaces and overloaded kernels need
-- an expression, which is valid only in the namespace of the kernel's source: there, a function returns the address.
-- If such a kernel is written as inline PTX, its name is autotune_ptx_<entry>.

local entries = {}

local function is_word(name)
  return string.find(name, "^[%a_][%w_]*$") ~= nil
end

--- Returns C++ functions that return the addresses of a source's kernels. A kernel whose address is its name has no function.
function entries.functions(names, is_ptx)
  local out = {}
  for e, name in ipairs(names) do
    if string.find(name, "^_Z") then
      refuse("the kernel '" .. name .. "' has its mangled name: write its C++ name, for example 'ns::scale<64>'")
    end
    if name ~= "" and not is_word(name) then
      out[#out + 1] = string.format(
        "static const void *autotune_entry_%d()\n{\n    return reinterpret_cast<const void *>(%s);\n}", e - 1,
        is_ptx and "autotune_ptx_" .. e - 1 or name)
    end
  end
  return table.concat(out, "\n")
end

--- Returns the address of entry `e` of source `k` of a pattern; both count from 1.
function entries.address(pattern, k, e, name)
  local space = "autotune_" .. pattern .. "_kernel_" .. k - 1 .. "::"
  if is_word(name) then return "reinterpret_cast<const void *>(&" .. space .. name .. ")" end
  return space .. "autotune_entry_" .. e - 1 .. "()"
end

return entries
