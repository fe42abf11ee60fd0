#include "sim/machine/watched.h"

#include "sim/machine/global.h"
#include "sim/machine/shared.h"
#include "sim/program/operations.h"

bool sim_touch_lane(sim_race_access *a, int lane, ptx_space space, const sim_places *p,
                    uint32_t bytes, sim_touch kind, const uint8_t *fresh)
{
    sim_race_access_by(a, lane);
    if (space == PTX_SPACE_SHARED) {
        a->owner = p->owner;
        return sim_shared_touch(a, (uint32_t)p->address[lane], bytes, kind, fresh);
    }
    if (space == PTX_SPACE_GLOBAL) {
        const sim_region *r = a->region = p->region[lane];
        return !sim_is_watched(a->block->watch, r) ||
               sim_global_touch(a, p->address[lane] - r->base, bytes, kind, fresh);
    }
    return true;
}

/* Are the lanes' bytes side by side, those of all lanes? */
static bool is_row(uint32_t mask, const sim_places *p, uint32_t bytes)
{
    uint64_t apart = 0;
    if (mask != UINT32_MAX)
        return false;
    SIM_EACH_LANE(l) apart |= p->address[l] ^ (p->address[0] + (uint64_t)l * bytes);
    return apart == 0;
}

/* Touches at once what can be, and returns the lanes that are left; *fine as of sim_touch_lane().
 */
uint32_t sim_touch_together(sim_race_access *a, uint32_t mask, ptx_space space, const sim_places *p,
                            uint32_t bytes, sim_touch kind, const uint8_t *fresh, bool *fine)
{
    if (space == PTX_SPACE_SHARED) {
        a->owner = p->owner;
        if (kind == SIM_TOUCH_READ && p->address[0] == p->address[1]) {
            uint64_t apart = 0;
            SIM_EACH_OF(l, mask) apart |= p->address[l] ^ p->address[__builtin_ctz(mask)];
            return apart == 0 && sim_shared_read_word(
                                     a, mask, (uint32_t)p->address[__builtin_ctz(mask)], bytes)
                       ? 0
                       : mask;
        }
        return is_row(mask, p, bytes) ? mask & ~sim_shared_touch_row(a, (uint32_t)p->address[0],
                                                                     bytes, kind, fresh, fine)
                                      : mask;
    }
    if (space != PTX_SPACE_GLOBAL || !is_row(mask, p, bytes) || p->region[0] != p->region[31])
        return mask;
    a->region = p->region[0];
    return mask &
           ~sim_global_touch_row(a, p->address[0] - a->region->base, bytes, kind, fresh, fine);
}
