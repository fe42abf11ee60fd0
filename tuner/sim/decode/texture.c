/* Texture reads, and loads, stores and reductions of surfaces (PTX ISA, "Texture Instructions" and
 * "Surface Instructions"). */
#include <string.h>

#include "sim/decode/addresses.h"
#include "sim/decode/decoder.h"

enum { MOST_PARTS = 12 };

/* Returns the number of dimensions in the opcode, or 0 for an unknown geometry. */
static int dimensions_of(const decoder *d, bool *layered)
{
    static const choice plain[] = {{"1d", 1}, {"2d", 2}, {"3d", 3}, {0}},
                        layers[] = {{"a1d", 1}, {"a2d", 2}, {0}};
    const int dimensions = decode_choice(d, layers, 0);
    *layered = dimensions > 0;
    return *layered ? dimensions : decode_choice(d, plain, 0);
}

/* Decodes [object, {coordinates}]. Returns the slot of the object, and fills `slots` with the slots
 * of the coordinates. A layered object's layer is an integer and comes first. */
static int32_t decode_coordinates(decoder *d, const ptx_operand *address, int dimensions,
                                  bool layered, ptx_type type, int32_t *slots)
{
    if (d->status || address->kind != PTX_OPERAND_ADDRESS || address->count != 2 ||
        address->offset != 0) {
        decode_unknown(d);
        return SIM_NO_SLOT;
    }
    const ptx_operand *coordinates = decode_part(d, address, 1);
    const bool is_one = coordinates->kind == PTX_OPERAND_REGISTER && dimensions == 1 && !layered;
    if (!is_one && coordinates->count < dimensions + layered) {
        decode_unknown(d);
        return SIM_NO_SLOT;
    }
    for (int i = 0; i < dimensions + layered; i++)
        slots[i] = decode_source(d, is_one ? coordinates : decode_part(d, coordinates, i), 4,
                                 layered && i == 0 ? PTX_U32 : type);
    return decode_source(d, decode_part(d, address, 0), 8, PTX_U64);
}

/* Decodes level or gradients, which must be defined but have no effect. Returns how many slots. */
static int decode_level(decoder *d, int32_t *slots)
{
    int count = 0;
    for (int i = 2; i < d->statement->count; i++) {
        const ptx_operand *o = decode_operand(d, i);
        for (int k = 0; k < (o->kind == PTX_OPERAND_VECTOR ? o->count : 1); k++)
            if (count < MOST_PARTS - 4)
                slots[count++] = decode_source(
                    d, o->kind == PTX_OPERAND_VECTOR ? decode_part(d, o, k) : o, 4, PTX_F32);
    }
    return count;
}

/* Decodes tex{.level,.grad}.{1d,2d,3d,a1d,a2d}.v4.TYPE.{s32,f32} {d, d, d, d}, [texture, {x, y}],
 * ... and tld4.{r,g,b,a}.2d.v4.TYPE.f32. */
at_status decode_texture(decoder *d)
{
    static const choice components[] = {{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}, {0}};
    const bool gathers = strcmp(d->op.name, "tld4") == 0, leveled = decode_has(d, "level"),
               inclined = decode_has(d, "grad");
    const int component = gathers ? decode_choice(d, components, -1) : 0;
    const int words = gathers || leveled || inclined;
    destination to[4];
    int32_t slots[MOST_PARTS];
    bool layered;
    const int dimensions = dimensions_of(d, &layered);
    if (d->op.count != 4 + words || dimensions == 0 || !decode_has(d, "v4") || component < 0 ||
        (gathers && (dimensions != 2 || layered)) || d->op.type_count != 2 ||
        ptx_type_bytes(d->op.types[0]) != 4 ||
        (d->op.types[1] != PTX_F32 && (d->op.types[1] != PTX_S32 || words > 0)))
        return decode_unknown(d);
    decode_count(d, 2 + leveled + 2 * inclined, 2 + leveled + 2 * inclined);
    const ptx_operand *vector = decode_operand(d, 0);
    if (d->status || vector->kind != PTX_OPERAND_VECTOR || vector->count != 4)
        return decode_unknown(d);
    const int32_t texture =
        decode_coordinates(d, decode_operand(d, 1), dimensions, layered, d->op.types[1], slots);
    const int parts = dimensions + layered + decode_level(d, slots + dimensions + layered);
    for (int i = 0; i < 4; i++)
        to[i] = decode_destination(d, decode_part(d, vector, i), 4);
    sim_instruction *c = decode_emit(d, SIM_TEXTURE, SIM_CLASS_GLOBAL);
    c->a = texture;
    c->op = (uint8_t)((layered ? SIM_TEXTURE_LAYERED : 0) |
                      (gathers ? SIM_TEXTURE_GATHER | component << 2 : 0));
    c->source_width = (uint8_t)dimensions;
    c->type = (uint8_t)d->op.types[0];
    c->source_type = (uint8_t)d->op.types[1];
    c->space = PTX_SPACE_GLOBAL;
    c->vector = 4;
    c->width = 4;
    c->noncoherent = true;
    c->list = (int32_t)d->program->list_count;
    c->target_count = parts;
    for (int i = 0; i < 4; i++)
        decode_list(d, to[i].slot);
    decode_lists(d, slots, (size_t)parts);
    for (int i = 0; i < 4; i++)
        decode_finish(d, &to[i], false);
    return d->status;
}

typedef struct surface_address {
    address_operand at;
    int32_t within; /* guard of the access; SIM_NO_SLOT if it is the guard of the statement */
} surface_address;

/* Emits the computation of an address. With .zero, lanes outside the surface do not access it. */
static surface_address decode_surface_address(decoder *d, const ptx_operand *address,
                                              uint32_t bytes)
{
    static const choice modes[] = {
        {"trap", 0}, {"clamp", SIM_SURFACE_CLAMP}, {"zero", SIM_SURFACE_ZERO}, {0}};
    int32_t slots[4];
    bool layered;
    const int dimensions = dimensions_of(d, &layered), mode = decode_choice(d, modes, 0);
    surface_address out = {.at = {SIM_NO_SLOT, 8, 0, PTX_SPACE_GLOBAL, OBJECTS_NONE},
                           .within = SIM_NO_SLOT};
    if (dimensions == 0) {
        decode_unknown(d);
        return out;
    }
    const int32_t surface = decode_coordinates(d, address, dimensions, layered, PTX_S32, slots),
                  within = decode_new_slot(d, 0);
    out.at.slot = decode_new_slot(d, 8);
    sim_instruction *c = decode_emit(d, SIM_SURFACE, SIM_CLASS_GLOBAL);
    c->extra = true;
    c->a = surface;
    c->d = out.at.slot;
    c->d2 = within;
    c->width = 8;
    c->op = (uint8_t)(mode | (layered ? SIM_SURFACE_LAYERED : 0));
    c->source_width = (uint8_t)dimensions;
    c->vector = (uint8_t)bytes;
    c->list = (int32_t)d->program->list_count;
    c->target_count = dimensions + layered;
    decode_lists(d, slots, (size_t)(dimensions + layered));
    if (mode != SIM_SURFACE_ZERO)
        return out;
    out.within = decode_new_slot(d, 0);
    c = decode_emit(d, SIM_LOGIC, SIM_CLASS_PREDICATE);
    const bool guarded = c->guard != SIM_NO_SLOT;
    c->extra = true;
    c->d = out.within;
    c->op = SIM_LOGIC_AND;
    c->a = guarded ? c->guard : within;
    c->negate_a = guarded && c->guard_negated;
    c->b = within;
    c->guard = SIM_NO_SLOT;
    return out;
}

static sim_instruction *finish_access(sim_instruction *c, const surface_address *p)
{
    c->is_surface = true;
    if (p->within != SIM_NO_SLOT) {
        c->guard = p->within;
        c->guard_negated = false;
    }
    return c;
}

/* Decodes suld.b.GEOMETRY{.v2,.v4}.{b8,b16,b32,b64}.MODE {d, ...}, [surface, {x, ...}] and
 * sust.b.GEOMETRY{.v2,.v4}.TYPE.MODE [surface, {x, ...}], {a, ...}. */
at_status decode_surface(decoder *d)
{
    const bool loads = strcmp(d->op.name, "suld") == 0;
    const int count = decode_has(d, "v2") ? 2 : decode_has(d, "v4") ? 4 : 1;
    if (!decode_has(d, "b") || d->op.type_count != 1 ||
        ptx_type_bytes(d->op.types[0]) * (uint32_t)count > 16)
        return decode_unknown(d);
    const ptx_type type = d->op.types[0];
    const uint32_t width = type_lane_bytes(type);
    decode_count(d, 2, 2);
    const ptx_operand *values = decode_registers(d, decode_operand(d, loads ? 0 : 1), count);
    if (d->status)
        return d->status;
    int32_t slots[4];
    destination to[4];
    const surface_address p = decode_surface_address(d, decode_operand(d, loads ? 1 : 0),
                                                     ptx_type_bytes(type) * (uint32_t)count);
    for (int i = 0; i < count && !loads; i++)
        slots[i] = decode_source(d, &values[i], width, type);
    for (int i = 0; i < count && loads; i++) {
        const int32_t zero = decode_constant(d, 0, width);
        to[i] = decode_destination(d, &values[i], width);
        slots[i] = to[i].slot;
        if (p.within != SIM_NO_SLOT)
            decode_compute(d, width == 8 ? "mov.b64" : "mov.b32", slots[i], &zero, 1)->extra = true;
    }
    finish_access(decode_access(d, loads ? SIM_LOAD : SIM_STORE, &p.at, type, slots, count), &p)
        ->noncoherent = loads;
    for (int i = 0; i < count && loads; i++)
        decode_finish(d, &to[i], false);
    return d->status;
}

/* Decodes sured.b.OP.GEOMETRY.TYPE.MODE [surface, {x, ...}], a. */
at_status decode_surface_reduction(decoder *d)
{
    static const choice reductions[] = {{"add", SIM_ATOMIC_ADD}, {"min", SIM_ATOMIC_MIN},
                                        {"max", SIM_ATOMIC_MAX}, {"and", SIM_ATOMIC_AND},
                                        {"or", SIM_ATOMIC_OR},   {0}};
    const int op = decode_choice(d, reductions, -1);
    if (op < 0 || !decode_has(d, "b") || d->op.type_count != 1 ||
        !decode_atomic_fits((sim_atomic_op)op, d->op.types[0]))
        return decode_unknown(d);
    const ptx_type type = d->op.types[0];
    const ptx_operand *value = decode_operand(d, 1);
    decode_count(d, 2, 2);
    if (value->kind == PTX_OPERAND_VECTOR && value->count == 1)
        value = decode_part(d, value, 0);
    const surface_address p = decode_surface_address(d, decode_operand(d, 0), ptx_type_bytes(type));
    const int32_t added = decode_source(d, value, type_lane_bytes(type), type);
    sim_instruction *c = finish_access(decode_access(d, SIM_ATOMIC, &p.at, type, &added, 1), &p);
    c->op = (uint8_t)op;
    c->count_class = SIM_CLASS_ATOMIC;
    c->scope = SIM_SCOPE_GPU;
    c->b = added;
    c->d2 = 0; /* no lane reads the old value */
    return d->status;
}
