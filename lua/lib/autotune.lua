-- What a pattern script sees: `local at = require "autotune"`.
--
-- at.pattern{...} checks the description, gives names and expressions their places in the script,
-- and hands one plain table to the program; everything in it that is wrong is an error that names
-- the script's line. The fields, and whether they may be left out (*):
--
--   name        letters, digits and _, no digit first
--   summary *   a line of text
--   problem     NAME = VALUE: what is to be done; `--set NAME=VALUE` overrides. at.one_of { VALUES } and
--               at.within(VALUE, LEAST, MOST) say what a variable may be
--   ragged *    NAME = VALUE: what to change for a problem whose edges no tile divides; or a list of up
--               to three such, where no single one suits all variants (each is checked on those whose
--               constraints it meets); or false
--   simulated * NAME = VALUE: what to change for a simulated device, which is slow
--   space       NAME = VALUES, the parameters in the order in which the script writes them; where
--               their order must not depend on that, { { NAME, VALUES }, ... }. Parameters of a
--               computed table that the script does not spell out follow in alphabetical order.
--               VALUES is a list (at.pow2, at.range, at.list help), a single value, or
--               at.when(CONDITION, VALUES, ELSEWHERE): a parameter that exists where CONDITION, an
--               expression over others, holds; elsewhere it has VALUES of its own (ELSEWHERE, which
--               may be another at.when), or the first of VALUES when nothing else is said
--   derived *   NAME = EXPRESSION: names for what follows from parameters, the problem and other
--               derived values; expressions and templates use them like parameters, configurations
--               do not have them
--   choose_by * NAME = EXPRESSION, up to 8 numbers that a choice among configurations may ask, beside the
--               problem's variables: waves = "ceil_div(tiles, device.sm_count)". `autotune portfolio` grows
--               its tree with them; pick, library and exported headers compute them. One that reads
--               parameters is asked of each of the portfolio's configurations
--   where *     a list of constraints: expressions that are true for valid configurations
--   baseline *  NAME = VALUE: the configuration that people would write first, where it differs from
--               the first value of each parameter
--   starts *    a list of { NAME = VALUE }: configurations that are likely to be good, each where it differs
--               from the baseline's table, at most 16. Every search tries them behind the baseline and what its
--               options name, in this order; those that a problem does not allow are left out
--   layout *    a list of parameters that say how data lies in memory (array of structs or struct of
--               arrays, padding). Buffers, fills and the reference may read these; each combination
--               has data and a reference of its own, and what brings data there is not timed
--   buffers *   NAME = at.input, at.output, at.inout or at.scratch { dtype, count, shape *; for what
--               is read: fill *, limit *, block *, values * (fills: below); for what is written:
--               tolerance * (the pattern's when left out), compare * (so many elements, the first ones,
--               are results, of parameters, too; all of them when left out) }
--   prepare *   at.kernel { ... as at.reference ... }: a kernel of the script's own ("prepare") that
--               fills inputs beyond what fills can say, after them and before the reference
--   kernel      { template, entry * (the pattern's name), args *, shared * (dynamic shared memory,
--               bytes), options * (NVRTC options, in which ${EXPRESSION} is replaced), constants *:
--               NAME = "BUFFER", extern "C" __constant__ arrays of the template that get the
--               contents of an at.input before each launch }
--   launch      { grid, block: an expression, or a list of two or three; cluster * (blocks, likewise),
--               balanced * (the GPU may put several blocks of a cluster on the same multiprocessor, as CUDA's
--               load-balancing policy for clusters has it; it does nothing where a cluster is one block),
--               cooperative * (all blocks are resident at once and may wait for each other),
--               times * (1): it runs so often, one after the other }
--   transfer *  { from, to: an at.input and an at.output of one size, of which one or both lie in the host's
--               memory; direction: "to_device" (from does), "to_host" (to does) or "both" (there and back);
--               memory: what the host's is, "pageable", "pinned", "write_combined" or "mapped" (kernels
--               read and write it themselves); staging * ("none"): the host copies each chunk through a
--               buffer of its own that is "pinned" or "write_combined"; chunk_bytes * (0: everything at
--               once); streams * (1, up to 16) that chunks take turns on; pieces * (1): the data is in so
--               many equal pieces on the host, pitch_bytes * (0: without gaps) from one's start to the
--               next's }. Direction, pieces and pitch_bytes read no parameters, the others may. No kernel
--               is needed; where there is one it is launched once a chunk, between the copies, with two
--               more arguments behind its own: unsigned long long, the chunk's first byte and its bytes.
--               Timed by the host's clock, from an idle device until all streams are done; not simulated
--   launches *  instead of launch: a list of launches, run one after the other, timed and checked as a
--               whole. Each is a launch with entry *, args * and shared * of its own (the kernel's
--               when left out) and when *: an expression without which it is left out; or a group
--               { times, launches }, whose launches run one after the other, and so often in turn:
--               { times = "steps // 2", launches = { { args = { "a", "b" } }, { args = { "b", "a" } } } }.
--               A launch or a group that runs 0 times is left out. At most 32 launches, groups' included
--   traffic *   bytes that a perfect kernel must move: GB/s are these over the time. Traffic, flops or
--               items must be given; all three may be
--   flops *     floating-point operations of a launch: GFLOP/s
--   items *     { NAME = COUNT }: what else it gets done, such as { keys = "n" }: Gkeys/s
--   ceiling *   what bounds it, of which shares are told: "copy", "read" or "write" (as many bytes, which
--               each run measures), "l2", "shared", "host_to_device" or "device_to_host" (traffic), "fp32"
--               or "fp64" (flops), "atomics" or "launches" (items), all of which `autotune ceilings`
--               measures; "pinned" (of a transfer: a pinned copy each way, which each run measures); "none"; or
--               an expression that gives one. When left out: of a transfer "pinned"; of traffic the copy, or
--               the read or write where one side is sixteen times the other; else of flops FP32, or FP64
--               where a result is double; else none
--   reference * at.reference { template, entry * ("reference"), args * (the kernel's), grid *, block *
--               (one thread an element of the first output, 256 a block), shared *, options * };
--               without one, the pattern can be emitted and inspected, not tuned
--   tolerance * 0 (bit for bit, also when left out), or an error relative to the output's largest
--               magnitude; at.relative(E), an error relative to each element's own magnitude;
--               at.absolute(E); at.ulps(N), up to N representable values away (of integers: their
--               difference). Not a number and infinities equal only themselves.
--               at.mismatches(AMOUNT, TOLERANCE *): a share of an output's elements (AMOUNT below 1) or a
--               number of them may be further away than that TOLERANCE: rounding flips a discrete result
--   deterministic * do two launches agree bit for bit? True when every tolerance is 0.
--
-- An argument is a buffer's name or an expression: an integer is an int, true or false a bool;
-- at.int8 to at.int64, at.uint8 to at.uint64, at.half, at.bfloat16, at.float, at.double and at.bool
-- say otherwise: at.float(EXPRESSION). at.struct { at.float "x", at.int32 "n" } is a struct by value.
-- Two more are views of a buffer, of which the launch makes the driver's object:
--
--   at.tensor   a tensor map, const __grid_constant__ CUtensorMap, by which cp.async.bulk.tensor copies
--               boxes (device.major >= 9): { buffer; size: elements, along a row first, up to five sides;
--               strides *: elements from one row to the next, one plane to the next ... (packed); box: as
--               many sides, 256 elements at most; swizzle * (0) over 32, 64 or 128 bytes; l2 * (0): 64,
--               128 or 256 bytes are fetched into L2; outside * ("zero", "nan"): what lies outside reads
--               as. A box's rows and all strides are multiples of 16 bytes }
--   at.texture  a texture object, cudaTextureObject_t: { buffer; size: texels, one side (tex1Dfetch) or
--               two (tex2D); strides * (packed): elements from one row to the next, a multiple of 32
--               bytes; channels * (1, 2, 4): elements of a texel; filter * ("point", "linear");
--               address * ("clamp", "border", "wrap", "mirror"); coordinates * ("elements",
--               "normalised"); reads * ("element", or "float": integers of 8 and 16 bits as fractions) }
--
-- Fills, each by a generator that gives every element its own value:
--
--   uniform      floats in [-1, 1) with all mantissa bits in use, random integers; the default
--   bits         random bits, whatever the type
--   zero, at.constant(VALUE), at.values { 1, 2, 1 }: these, over and over
--   index        element i holds i
--   permutation  0 .. count - 1 in random order
--   below        random integers in [0, limit) ("modulo" is the same)
--   sorted       the same, ascending
--   skewed       the same, small ones more often: v about as often as 1 / (v + 1) (Zipf)
--   local        the same, but `block` neighbours lie within one window of `block` integers
--   offsets      ascending from 0 to limit, which is the last element: the rows of a CSR matrix
--
-- Expressions are strings with a line of Lua (or plain numbers) over parameters, problem variables,
-- derived values, device.* and the helper functions ceil_div, round_up, min, max, floor, ceil, abs,
-- log2, is_pow2, sizeof, is_float and math.*, and cluster_load(device.sm_count, clusters, blocks, resident): how
-- many blocks of a launch of `clusters` clusters of `blocks` each the busiest multiprocessor gets in its turn, where
-- each has room for `resident` at a time. It is an estimate, made from what H200s were seen to do. Whatever concerns
-- all variants alike (buffers, tolerance, traffic, reference) reads no parameters.

local host = ...

local check = host.own "check.lua"
local space = host.own "space.lua"
local problem = host.own "problem.lua"
local kernel = host.own "kernel.lua"
local tolerance = host.own "tolerance.lua"
local work = host.own "work.lua"
local read_transfer = host.own "host_memory.lua"
local fail, show, KIND = check.fail, check.show, check.KIND

local at = {}

for _, name in ipairs { "pow2", "range", "list", "when" } do at[name] = space[name] end
for _, name in ipairs { "relative", "absolute", "ulps", "mismatches" } do at[name] = tolerance[name] end

-- Buffers, arguments, references

local function constructor(kind)
  return function(fields)
    if type(fields) ~= "table" then
      error("at." .. kind .. " takes a table: at." .. kind .. " { ... }", 2)
    end
    local made = { [KIND] = kind }
    for key, v in pairs(fields) do made[key] = v end
    return made
  end
end

at.input = constructor "input"
at.output = constructor "output"
at.inout = constructor "inout"
at.scratch = constructor "scratch"
at.reference = constructor "reference"
at.kernel = constructor "kernel"
at.tensor = constructor "tensor"
at.texture = constructor "texture"

for _, kind in ipairs(kernel.ARGUMENTS) do
  at[kind] = function(v)
    return { [KIND] = "argument", type = kind, value = v }
  end
end

--- A small struct by value, laid out as C does it: at.struct { at.float "x", at.int32 "n" }.
function at.struct(members)
  if type(members) ~= "table" then
    error("at.struct takes a list: at.struct { at.float(...), at.int32(...) }", 2)
  end
  return { [KIND] = "struct", members = members }
end

--- A fill: the values of the list, one after the other and from the first again.
function at.values(list)
  if type(list) ~= "table" then error("at.values takes a list: at.values { 1, 2, 1 }", 2) end
  return { [KIND] = "fill", values = list }
end

--- A fill: all elements have this value.
function at.constant(v)
  return { [KIND] = "fill", values = { v } }
end

-- A misspelt helper is told by its name; what scripts ask for otherwise is not there.
host.missing(at, function(_, name)
  local known = {}
  for key in pairs(at) do known[#known + 1] = key end
  table.sort(known)
  error("there is no at." .. tostring(name) .. check.meant(tostring(name), known), 2)
end)

local PATTERN_FIELDS = {
  "name", "summary", "problem", "ragged", "simulated", "space", "derived", "choose_by", "where",
  "baseline", "starts", "layout", "buffers", "prepare", "transfer", "kernel", "launch", "launches", "traffic", "flops",
  "items", "ceiling", "reference", "tolerance", "deterministic",
}

--- A problem variable that has one of these values; the first when nothing is said.
function at.one_of(values)
  if type(values) ~= "table" then error("at.one_of takes a list: at.one_of { \"float\", \"half\" }", 2) end
  return { [KIND] = "one_of", values = values }
end

--- A problem variable that is a number from `least` to `most`; `default` when nothing is said.
function at.within(default, least, most)
  if type(default) ~= "number" or type(least) ~= "number" or type(most) ~= "number" then
    error("at.within takes three numbers: at.within(8192, 1, 1 << 30)", 2)
  end
  if default < least or default > most then
    error("at.within: " .. default .. " is not between " .. least .. " and " .. most, 2)
  end
  return { [KIND] = "within", default = default, least = least, most = most }
end

--- Describes the pattern; the script returns what this returns.
function at.pattern(description)
  if type(description) ~= "table" then error("at.pattern takes a table: at.pattern { ... }", 2) end
  check.fields(description, {}, PATTERN_FIELDS)
  local name = check.string(description.name, { "name" }, "name = \"transpose\"")
  if #name > 60 or not string.find(name, "^[%a_][%w_]*$") then
    fail({ "name" }, "%s is not a pattern's name: letters, digits and _, no digit first, at most 60",
         show(name))
  end
  local taken = {}
  local p = { name = name }
  p.summary = description.summary == nil and ""
    or check.string(description.summary, { "summary" }, "a line of text")
  p.problem, p.ragged_count, p.has_simulated = problem.read(description, taken)
  p.parameters, p.conditions = space.read_space(description, taken)
  p.derived = space.read_derived(description, taken)
  p.features = space.read_features(description, taken)
  p.constraints = space.read_where(description)
  p.baseline = space.read_baseline(description, p.parameters)
  p.starts = space.read_starts(description, p.parameters, p.baseline)
  p.layout, p.layout_line = space.read_layout(description, p.parameters)
  p.buffers = kernel.read_buffers(description, taken)
  kernel.check_types(description, p)
  p.measurable = #p.buffers > 0 and description.reference ~= nil
  p.transfer = read_transfer(description, p.buffers, taken)
  p.kernel = kernel.read_kernel(description, p.buffers, p.measurable)
  p.reference = kernel.read_reference(description, p.buffers)
  p.prepare = kernel.read_prepare(description, p.buffers)
  work.read(description, p, taken)
  p.tolerance = tolerance.read(description.tolerance or 0, { "tolerance" })
  p.deterministic = description.deterministic
  if p.deterministic ~= nil and type(p.deterministic) ~= "boolean" then
    fail({ "deterministic" }, "is %s; write true or false", show(p.deterministic))
  end
  return host.declare(p)
end

return at
