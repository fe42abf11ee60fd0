/* Tests loads, stores and reductions of surfaces of all sizes and shapes. Compares each byte
 * with the same operation on an array of planes of rows. */
#include <stdlib.h>

#include "fault_fixture.h"
#include "sim/machine/arguments.h"

enum { WIDTH = 5, HEIGHT = 4, DEPTH = 3, TEXEL = 16, ROW = WIDTH * TEXEL, THREADS = 64, MOST = 16 };

/* A shape of a surface: its name in the PTX ISA, and its coordinates, of which layers are first. */
static const struct shape {
    const char *name, *coordinates;
    uint32_t sides;
    bool layered;
} shapes[] = {{"1d", "%x", 1, false},
              {"2d", "%x, %y", 2, false},
              {"3d", "%x, %y, %z, %z", 3, false},
              {"a1d", "%z, %x", 1, true},
              {"a2d", "%z, %x, %y, %y", 2, true}};

/* The registers of one access: number and type. */
static const struct form {
    const char *type, *vector, *declared, *registers;
    uint32_t bytes;
} forms[] = {{"b8", "", ".b16 %v<4>", "{%v0}", 1},
             {"b16", "", ".b16 %v<4>", "{%v0}", 2},
             {"b32", "", ".b32 %v<4>", "{%v0}", 4},
             {"b64", "", ".b64 %v<4>", "{%v0}", 8},
             {"b16", ".v2", ".b16 %v<4>", "{%v0, %v1}", 4},
             {"b32", ".v2", ".b32 %v<4>", "{%v0, %v1}", 8},
             {"b64", ".v2", ".b64 %v<4>", "{%v0, %v1}", 16},
             {"b8", ".v4", ".b16 %v<4>", "{%v0, %v1, %v2, %v3}", 4},
             {"b32", ".v4", ".b32 %v<4>", "{%v0, %v1, %v2, %v3}", 16}};

static const char *const modes[] = {"trap", "clamp", "zero"};
enum { TRAP, CLAMP, ZERO };

enum { SHAPES = sizeof shapes / sizeof *shapes, FORMS = sizeof forms / sizeof *forms };

/* Thread i copies element at[i] of a surface to or from element i of an array. */
static const char source[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 s, .param .u64 a, .param .u64 m)\n{\n"
    ".reg .b64 %%d<8>; .reg .b32 %%x, %%y, %%z, %%w, %%t; .reg %s;\n"
    "ld.param.u64 %%d0, [s]; ld.param.u64 %%d1, [a]; ld.param.u64 %%d2, [m];\n"
    "mov.u32 %%t, %%tid.x; mul.wide.u32 %%d3, %%t, 16;\n"
    "add.u64 %%d1, %%d1, %%d3; add.u64 %%d2, %%d2, %%d3;\n"
    "ld.global.v4.b32 {%%x, %%y, %%z, %%w}, [%%d1];\n%s ret;\n}\n";

typedef struct world {
    uint8_t surface[DEPTH][HEIGHT][ROW], expected[DEPTH][HEIGHT][ROW];
    int32_t at[THREADS][4];
    uint8_t moved[THREADS][MOST], wanted[THREADS][MOST];
} world;

static void begin(sim_test *t, sim_texture *surface, const struct shape *shape, const char *text,
                  world *w)
{
    sim_test_init_ptx(t, text, "k");
    *surface =
        (sim_texture){.base = sim_test_buffer(t, "surface", w->surface, sizeof w->surface, true),
                      .step_bytes = {TEXEL, ROW, ROW * HEIGHT},
                      .layer_bytes = ROW * HEIGHT,
                      .size = {WIDTH, shape->sides > 1 ? HEIGHT : 1, DEPTH},
                      .rank = shape->sides,
                      .layers = shape->layered ? DEPTH : 0,
                      .channels = 4,
                      .bytes = 4,
                      .in_array = true,
                      .is_surface = true};
    t->textures = surface;
    t->texture_count = 1;
    sim_test_u64(t, SIM_TEXTURE_HANDLES);
    sim_test_u64(t, sim_test_buffer(t, "at", w->at, sizeof w->at, true));
    sim_test_u64(t, sim_test_buffer(t, "moved", w->moved, sizeof w->moved, true));
}

static int64_t nearest(int64_t v, int64_t most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

/* Returns the bytes that an access reads or writes, or NULL if it is outside the surface. */
static uint8_t *reach(uint8_t of[DEPTH][HEIGHT][ROW], const struct shape *shape, int mode,
                      const int32_t at[4], uint32_t bytes)
{
    const bool deep = shape->layered || shape->sides == 3;
    const int64_t x = nearest(at[0], ROW - bytes),
                  y = shape->sides > 1 ? nearest(at[1], HEIGHT - 1) : 0,
                  z = deep ? nearest(at[2], DEPTH - 1) : 0;
    const bool inside = x == at[0] && (shape->sides == 1 || y == at[1]) && (!deep || z == at[2]);
    return inside || mode == CLAMP ? &of[z][y][x] : NULL;
}

/* Draws coordinates. Some are outside the surface unless `within` is true. */
static void place(world *w, uint32_t bytes, bool within, uint64_t *random)
{
    static const int32_t sides[] = {ROW, HEIGHT, DEPTH};
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < 3; k++) {
            *random = *random * 6364136223846793005u + 1442695040888963407u;
            const int32_t step = k == 0 ? (int32_t)bytes : 1, n = sides[k] / step,
                          v = (int32_t)(*random >> 40);
            w->at[i][k] = (within ? v % n : v % (n + 4) - 2) * step;
        }
}

static void fill(world *w)
{
    uint8_t *all = &w->surface[0][0][0];
    for (size_t i = 0; i < sizeof w->surface; i++)
        all[i] = (uint8_t)(i * 31 + i / 251);
    for (int i = 0; i < THREADS * MOST; i++)
        w->moved[i / MOST][i % MOST] = (uint8_t)(i * 7 + 3);
    memcpy(w->expected, w->surface, sizeof w->surface);
}

static void assert_loads(const struct shape *shape, const struct form *form, int mode,
                         uint64_t *random)
{
    static world w;
    char body[512], text[2048];
    sim_texture surface;
    sim_test t;
    snprintf(body, sizeof body, "suld.b.%s%s.%s.%s %s, [%%d0, {%s}]; st.global%s.%s [%%d2], %s;\n",
             shape->name, form->vector, form->type, modes[mode], form->registers,
             shape->coordinates, form->vector, form->type, *form->vector ? form->registers : "%v0");
    snprintf(text, sizeof text, source, form->declared, body);
    fill(&w);
    place(&w, form->bytes, mode == TRAP, random);
    begin(&t, &surface, shape, text, &w);
    sim_test_run_well(&t, 1, 1, THREADS, 1, 0);
    for (int i = 0; i < THREADS; i++) {
        const uint8_t *from = reach(w.expected, shape, mode, w.at[i], form->bytes);
        for (uint32_t k = 0; k < form->bytes; k++)
            if (w.moved[i][k] != (from ? from[k] : 0))
                fail_msg("%s: byte %u of (%d, %d, %d) is %u", body, k, w.at[i][0], w.at[i][1],
                         w.at[i][2], w.moved[i][k]);
    }
    sim_test_deinit(&t);
}

TEST(loads_find_the_bytes_that_the_coordinates_name)
{
    uint64_t random = 5;
    for (int s = 0; s < SHAPES; s++)
        for (int f = 0; f < FORMS; f++)
            for (int mode = TRAP; mode <= ZERO; mode++)
                assert_loads(&shapes[s], &forms[f], mode, &random);
}

/* Each launch has one thread, because two threads with the same coordinates would race. */
static void assert_store(const struct shape *shape, const struct form *form, int mode,
                         uint64_t *random)
{
    static world w;
    char body[512], text[2048];
    sim_texture surface;
    sim_test t;
    snprintf(body, sizeof body, "ld.global%s.%s %s, [%%d2]; sust.b.%s%s.%s.%s [%%d0, {%s}], %s;\n",
             form->vector, form->type, *form->vector ? form->registers : "%v0", shape->name,
             form->vector, form->type, modes[mode], shape->coordinates, form->registers);
    snprintf(text, sizeof text, source, form->declared, body);
    fill(&w);
    place(&w, form->bytes, mode == TRAP, random);
    begin(&t, &surface, shape, text, &w);
    sim_test_run_well(&t, 1, 1, 1, 1, 0);
    uint8_t *to = reach(w.expected, shape, mode, w.at[0], form->bytes);
    if (to)
        memcpy(to, w.moved[0], form->bytes);
    if (memcmp(w.surface, w.expected, sizeof w.surface) != 0)
        fail_msg("%s: at (%d, %d, %d)", body, w.at[0][0], w.at[0][1], w.at[0][2]);
    sim_test_deinit(&t);
}

TEST(stores_change_only_the_bytes_that_the_coordinates_name)
{
    uint64_t random = 11;
    for (int s = 0; s < SHAPES; s++)
        for (int f = 0; f < FORMS; f++)
            for (int mode = TRAP; mode <= ZERO; mode++)
                assert_store(&shapes[s], &forms[f], mode, &random);
}

TEST(reductions_update_the_stored_elements)
{
    static world w;
    char text[2048];
    sim_texture surface;
    sim_test t;
    uint64_t random = 3;
    snprintf(text, sizeof text, source, ".b32 %v<4>",
             "ld.global.u32 %v0, [%d2]; sured.b.add.2d.u32.zero [%d0, {%x, %y}], %v0;");
    fill(&w);
    place(&w, 4, false, &random);
    begin(&t, &surface, &shapes[1], text, &w);
    sim_test_run_well(&t, 1, 1, THREADS, 1, 0);
    for (int i = 0; i < THREADS; i++) {
        uint32_t sum, more;
        uint8_t *to = reach(w.expected, &shapes[1], ZERO, w.at[i], 4);
        if (!to)
            continue;
        memcpy(&sum, to, 4);
        memcpy(&more, w.moved[i], 4);
        sum += more;
        memcpy(to, &sum, 4);
    }
    assert_memory_equal(w.surface, w.expected, sizeof w.surface);
    sim_test_deinit(&t);
}

static void assert_refused(const char *body, const struct shape *shape, bool is_surface,
                           const int32_t at[3], sim_fault_kind kind, const char *story)
{
    static world w;
    char text[2048];
    sim_texture surface;
    sim_test t;
    snprintf(text, sizeof text, source, ".b32 %v<4>", body);
    fill(&w);
    memset(w.at, 0, sizeof w.at);
    memcpy(w.at[3], at, 3 * sizeof *at);
    begin(&t, &surface, shape, text, &w);
    surface.is_surface = is_surface;
    const sim_fault_kind found = sim_test_run(&t, 1, 1, 4, 1, 0);
    if (found != kind)
        fail_msg("%s: fault %d (%s)", body, found, t.fault.message);
    assert_story(&t, story);
    sim_test_deinit(&t);
}

TEST(accesses_outside_surfaces_and_wrong_handles_are_faults)
{
    static const char load[] = "suld.b.2d.b32.trap {%v0}, [%d0, {%x, %y}];",
                      store[] = "mov.b32 %v0, %t; sust.b.2d.b32.trap [%d0, {%x, %y}], {%v0};";
    const int32_t beyond[] = {ROW, 0, 0}, before[] = {0, -1, 0}, crooked[] = {2, 0, 0},
                  fine[] = {4, 0, 0};
    assert_refused(load, &shapes[1], true, beyond, SIM_FAULT_BOUNDS,
                   "thread (3,0,0) ... x = 80 (in bytes), y = 0 ... 5 x 4");
    assert_refused(store, &shapes[1], true, before, SIM_FAULT_BOUNDS, "y = -1");
    assert_refused(load, &shapes[1], true, crooked, SIM_FAULT_MISALIGNED, "x = 2 bytes");
    assert_refused(load, &shapes[2], true, fine, SIM_FAULT_BOUNDS,
                   "the instruction has 2 coordinates, but the surface has 3 dimensions");
    assert_refused(load, &shapes[4], true, fine, SIM_FAULT_BOUNDS, "does not give a layer");
    assert_refused(load, &shapes[1], false, fine, SIM_FAULT_BOUNDS,
                   "is not the handle of a surface");
    assert_refused(store, &shapes[1], true, fine, SIM_FAULT_RACE, "surface");
    assert_refused("mov.b32 %v0, %t; mul.lo.u32 %x, %t, 4; sust.b.2d.b32.trap [%d0, {%x, %y}], "
                   "{%v0}; suld.b.2d.b32.trap {%v1}, [%d0, {%x, %y}];",
                   &shapes[1], true, fine, SIM_FAULT_RACE,
                   "read by this thread as a surface and written by itself");
}
