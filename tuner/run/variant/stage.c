#include "run/variant/stage.h"

#include <assert.h>

#include "run/variant/variant.h"

#define TO(stage) (1u << CANDIDATE_##stage)

static bool follows(candidate_stage from, candidate_stage to)
{
    static const unsigned next[CANDIDATE_STAGES] = {
        [CANDIDATE_NEW] =
            TO(COMPILING) | TO(WAITING) | TO(FOLLOWING) | TO(ABANDONED) | TO(FINISHED),
        [CANDIDATE_COMPILING] =
            TO(WAITING) | TO(FOLLOWING) | TO(ABANDONED) | TO(FINISHED) | TO(RECOMPILING),
        [CANDIDATE_WAITING] = TO(TRYING) | TO(ABANDONED) | TO(FINISHED),
        [CANDIDATE_TRYING] = TO(WAITING) | TO(ABANDONED) | TO(FINISHED),
        [CANDIDATE_FOLLOWING] = TO(FINISHED),
        [CANDIDATE_FINISHED] = TO(RECOMPILING) | TO(CHECK_DUE),
        [CANDIDATE_RECOMPILING] = TO(FINISHED) | TO(CHECK_DUE),
        [CANDIDATE_CHECK_DUE] = TO(CHECKING) | TO(FINISHED),
        [CANDIDATE_CHECKING] = TO(CHECK_DUE) | TO(FINISHED),
    };
    return next[from] >> to & 1;
}

static bool is_sound(const candidate *c)
{
    bool compiles = c->stage == CANDIDATE_COMPILING || c->stage == CANDIDATE_RECOMPILING;
    bool tried = c->stage == CANDIDATE_WAITING || c->stage == CANDIDATE_TRYING;
    if (c->stage != CANDIDATE_ABANDONED && compiles != (c->parts > 0))
        return false;
    if (!candidate_is_finished(c) && (c->stage == CANDIDATE_FOLLOWING) != (c->twin_of != NULL))
        return false;
    if (c->stage == CANDIDATE_CHECK_DUE || c->stage == CANDIDATE_CHECKING)
        return c->ragged == RAGGED_UNCHECKED;
    return !tried || candidate_has_code(c);
}

void candidates_move(candidates *table, candidate *c, candidate_stage to)
{
    bool legal = follows(c->stage, to);
    table->at[c->stage]--;
    table->at[to]++;
    c->stage = to;
    assert(legal && is_sound(c));
    (void)legal, (void)is_sound;
}
