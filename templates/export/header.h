% -- The header of one pattern, `p`. Its look-up does what record/pick.c does, in the header's own types. Both include
% -- pick_rules.h, and a test compares their choices.
% local c, text = require "lib.c_text", require "lib.c_header"
% local example, fields_read, entry, is_size, all = text.example, text.fields_read, text.entry, text.is_size, text.all
% local spaced, empty_derived, any, serves, question = text.spaced, text.empty_derived, text.any, text.serves, text.question
% local order, entries, has_constraint_without_c = text.order, text.entries, text.has_constraint_without_c
% local function members(columns)
%   for _, column in ipairs(columns) do
    ${c.type(p, column)} ${column.identifier};
%   end
%   if #columns == 0 then
    char nothing;
%   end
% end
/* ${p.name}: configurations that autotune ${version} found, and a look-up. C11 or C++17.
 *
 *     autotune_${p.name}_problem problem = ${example(p)};
 *     autotune_${p.name}_choice choice = autotune_${p.name}_find(&device, &problem);
 *
 * The configuration is choice.config; choice.rule is the rule that found it. A configuration that
 * the pattern's constraints forbid on this device or for this problem is never returned. A
 * configuration that was not clearly faster than the default on the nearest problem is returned only
 * if the default is impossible. AUTOTUNE_RULE_NONE means that no configuration is possible.
 * In C++ all functions are constexpr, in CUDA for host and device. autotune_device_of() fills in
 * autotune_device if <cuda_runtime.h> is included before; of its fields${fields_read(p, device_fields)}.
% if text.agreeing(p) then
 * Their results agree with ${text.agreeing(p)}: no reference says that these are right.
% end
 * Written by 'autotune export ${p.name} --format header' from ${#p.rows} results. Change the records, not
 * this file. */
#ifndef AUTOTUNE_EXPORTED_${p.name}_h
#define AUTOTUNE_EXPORTED_${p.name}_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

% include "export/both.h"
% include "export/prelude.h"
% for _, columns in ipairs { p.variables, p.parameters } do
%   for _, column in ipairs(columns) do
%     if not column.c_type then
%       local kind = c.type(p, column)

typedef enum ${kind} {
%       for i, word in ipairs(column.words) do
    ${c.constant(p, column, word)} = ${i - 1}${i < #column.words and "," or ""}
%       end
} ${kind};

AUTOTUNE_FUNCTION const char *
${kind}_name(${kind} kind)
{
    switch (kind) {
%       for _, word in ipairs(column.words) do
    case ${c.constant(p, column, word)}:
        return ${c.literal(word.text)};
%       end
    }
    return "";
}
%     end
%   end
% end

typedef struct autotune_${p.name}_problem {
% members(p.variables)
} autotune_${p.name}_problem;

typedef struct autotune_${p.name}_config {
% members(p.parameters)
} autotune_${p.name}_config;

/* A recorded configuration. `portfolio` is -1, or the number of the portfolio that has the
 * configuration at index `place`. A portfolio serves a range of problems, so such an entry has no
 * problem and no time. */
typedef struct autotune_${p.name}_entry {
    const char *gpu;
    int major, minor; /* compute capability */
    int portfolio, place;
    autotune_${p.name}_problem problem;
    autotune_${p.name}_config config;
    int64_t time_ns; /* median of a launch */
} autotune_${p.name}_entry;

typedef struct autotune_${p.name}_choice {
    autotune_rule rule;
    autotune_${p.name}_config config;
    int entry; /* index for autotune_${p.name}_at(); -1 for the default */
} autotune_${p.name}_choice;

/* Returns the number of recorded configurations. */
AUTOTUNE_FUNCTION int autotune_${p.name}_count(void)
{
    return ${#p.rows};
}

AUTOTUNE_FUNCTION autotune_${p.name}_entry autotune_${p.name}_at(int i)
{
    switch (i) {
% for i = 1, math.max(#p.rows, 1) do
%   local row = p.rows[i]
    ${i < #p.rows and "case " .. i - 1 or "default"}: {
        const autotune_${p.name}_entry entry = {
            ${entry(p, row)}};
        return entry;
    }
% end
    }
}

/* Returns the pattern's default, which is reasonable on any GPU. */
AUTOTUNE_FUNCTION autotune_${p.name}_config autotune_${p.name}_default(void)
{
    const autotune_${p.name}_config config =
        ${c.values(p, p.parameters, p.default, 8)};
    return config;
}

/* Returns the distance of two problems. */
AUTOTUNE_FUNCTION double autotune_${p.name}_distance(
    const autotune_${p.name}_problem *a, const autotune_${p.name}_problem *b)
{
    double distance = 0;
% for _, v in ipairs(p.variables) do
%   if is_size(v) then
    distance += autotune_apart((double)a->${v.identifier}, (double)b->${v.identifier});
%   else
    distance += a->${v.identifier} == b->${v.identifier} ? 0 : AUTOTUNE_UNLIKE;
%   end
% end
% if #p.variables == 0 then
    (void)a;
    (void)b;
% end
    return distance;
}

AUTOTUNE_FUNCTION bool autotune_${p.name}_same(
    const autotune_${p.name}_problem *a, const autotune_${p.name}_problem *b)
{
% if #p.variables == 0 then
    (void)a;
    (void)b;
    return true;
% else
    return ${all(p.variables, "a->%s == b->%s")};
% end
}

% if #p.derived > 0 then

/* Values that are computed from device, problem and configuration. */
typedef struct autotune_${p.name}_derived {
%   for _, d in ipairs(p.derived) do
    bool has_${d.name};
    ${spaced(d.c_type)}value_${d.name};
%   end
} autotune_${p.name}_derived;
%   for _, d in ipairs(p.derived) do

AUTOTUNE_FUNCTION ${spaced(d.c_type)}autotune_${p.name}_derived_${d.name}(
    const autotune_device *device, const autotune_${p.name}_problem *problem,
    const autotune_${p.name}_config *config, autotune_${p.name}_derived *derived, int *failed)
{
    (void)device;
    (void)problem;
    (void)config;
    (void)failed;
    if (!derived->has_${d.name}) {
${d.assignment}
        derived->has_${d.name} = true;
    }
    return derived->value_${d.name};
}
%   end
% end
/* Returns whether the pattern's constraints allow a configuration on this device, for this
 * problem. */
AUTOTUNE_FUNCTION bool autotune_${p.name}_fits(
    const autotune_device *device, const autotune_${p.name}_problem *problem,
    const autotune_${p.name}_config *config)
{
    int broken = 0;
    (void)device;
    (void)problem;
    (void)config;
% if any(p, "failed)") then
    int *failed = &broken;
% end
% if any(p, ", derived, failed)") then
    ${empty_derived(p)}
% end
% for _, constraint in ipairs(p.constraints) do
%   if constraint.c then
    if (!(${constraint.c}))
        return false;
%   end
% end
    return broken == 0;
}

% for _, f in ipairs(p.features) do
%   if f.c and text.asks(p, f) then

/* Returns ${f.name}, a feature that trees of portfolios read. */
AUTOTUNE_FUNCTION double autotune_${p.name}_feature_${f.name}(
    const autotune_device *device, const autotune_${p.name}_problem *problem,
    const autotune_${p.name}_config of)
{
    const autotune_${p.name}_config *config = &of;
    int broken = 0, *failed = &broken;
%     if string.find(f.c, ", derived, failed)", 1, true) then
    ${empty_derived(p)}
%     end
    double value = 0;
    (void)device;
    (void)problem;
    (void)config;
    (void)failed;
${f.assignment}
    return broken == 0 ? value : 1.7976931348623157e308;
}
%   end
% end
/* Returns the place of a portfolio's configuration in the order for this problem, or -1 if the
 * portfolio does not serve this problem. With `index` -1, returns the number of configurations before
 * the default, or -1 if the tree does not say. */
AUTOTUNE_FUNCTION int autotune_${p.name}_place(
    int portfolio, int index, const autotune_device *device, const autotune_${p.name}_problem *problem)
{
    (void)index;
    (void)device;
    (void)problem;
% if #p.portfolios > 0 then
    int node = 0;
% end
% for number, portfolio in ipairs(p.portfolios) do
%   if text.can_be_asked(p, portfolio) then
    if (${serves(p, portfolio, number - 1)}) {
%   for i, node in ipairs(portfolio.tree) do
        if (node == ${i - 1}) {
%     if node["then"] then
            node = ${question(p, node, number - 1)} ? ${node["then"]} : ${node.otherwise};
%     else
            return ${order(node)};
%     end
        }
%   end
    }
%   end
% end
    return portfolio < 0 ? 0 : -1;
}

/* Returns whether an entry's configuration was clearly faster than the default on the nearest
 * problem for which the entry's GPU timed both. Returns true if there is no such problem. */
AUTOTUNE_FUNCTION bool autotune_${p.name}_faster(int entry, const autotune_${p.name}_problem *problem)
{
    bool faster = true;
    (void)entry;
    (void)problem;
% if #p.seen > 0 then
    double distance = 0, nearest = -1;
% end
% for _, seen in ipairs(p.seen) do
    if (${entries(seen.rows)}) {
        const autotune_${p.name}_problem seen = ${c.values(p, p.variables, seen.problem, 12)};
        distance = autotune_${p.name}_distance(&seen, problem);
        if (nearest < 0 || distance < nearest) {
            nearest = distance;
            faster = ${seen.faster};
        }
    }
% end
    return faster;
}
% if p.launch then
%   include "export/kernel.h"
% end

/* Returns the best known configuration for a device and a problem: measured on this GPU and
 * problem, or else from this GPU's portfolio, or else on this GPU for the nearest problem, or else
 * on a GPU of the same compute capability, or else of the same major capability, or else the
 * default. Returns the default, too, if the configuration is no faster. */
AUTOTUNE_FUNCTION autotune_${p.name}_choice
autotune_${p.name}_find(const autotune_device *device, const autotune_${p.name}_problem *problem)
{
    const autotune_${p.name}_choice fallback = {AUTOTUNE_RULE_DEFAULT, autotune_${p.name}_default(), -1};
    autotune_${p.name}_choice best = {AUTOTUNE_RULE_NONE, autotune_${p.name}_default(), -1};
    autotune_rule rank = AUTOTUNE_RULE_NONE;
    bool has_default = false;
    double nearest = 0;
    int i = 0;
    if (autotune_${p.name}_fits(device, problem, &fallback.config)${p.launch and " &&\n        autotune_" .. p.name .. "_kernel(device, problem, &fallback.config) >= 0" or ""}) {
        has_default = true;
        best = fallback;
        rank = best.rule;
    }
    for (i = 0; i < autotune_${p.name}_count(); i++) {
        const autotune_${p.name}_entry e = autotune_${p.name}_at(i);
        int place = autotune_${p.name}_place(e.portfolio, e.place, device, problem);
        int ahead = e.portfolio < 0 ? -1 : autotune_${p.name}_place(e.portfolio, -1, device, problem);
        autotune_rule rule = AUTOTUNE_RULE_NONE;
        double distance = 0;
        bool as_good = false; /* whether the default is as good */
        if (place < 0)
            continue;
        place = e.portfolio < 0 ? -1 : place;
        rule = autotune_rule_for(autotune_same_text(e.gpu, device->name), e.major == device->major,
                                 e.minor == device->minor, place,
                                 place < 0 && autotune_${p.name}_same(&e.problem, problem));
        distance = autotune_rank(
            rule, place, place < 0 ? autotune_${p.name}_distance(&e.problem, problem) : 0);
% if has_constraint_without_c(p) then
        if (rule != AUTOTUNE_RULE_EXACT)
            continue;
% end
% if p.launch then
        if (autotune_${p.name}_kernel(device, problem, &e.config) < 0)
            continue;
% end
        if (rule > rank || (rule == rank && distance >= nearest))
            continue;
        if (!autotune_${p.name}_fits(device, problem, &e.config))
            continue;
        as_good = has_default &&
                  autotune_default_will_do(rule, place, ahead,
                                           ahead >= 0 || autotune_${p.name}_faster(i, problem));
        /* The default replaces this configuration only if the portfolio has no better one. */
        if (as_good && place >= 0)
            distance += ${most_kept};
        if (rule == rank && distance >= nearest)
            continue;
        rank = rule;
        nearest = distance;
        best = fallback;
        if (as_good)
            continue;
        best.rule = rule;
        best.config = e.config;
        best.entry = i;
    }
    return best;
}

% include "export/both_end.h"
#endif
