/* The stages of a candidate: from its configuration to its outcome, and what may come after that.
 *
 *   stage        what it waits for         what moves it on                            to
 *   NEW          its sources               they are with the compilers                 COMPILING
 *                                          nothing of it is to be compiled             WAITING
 *                                          a variant with the same source was met      FOLLOWING
 *                                          the journal knows it, or others hung        FINISHED
 *   COMPILING    compile results           the last is there                           WAITING
 *                                          ... and the same machine code was met       FOLLOWING
 *                                          ... and there is no device to try it        FINISHED
 *                                          one part does not compile                   FINISHED, or
 *                                          ... and others are still being compiled     RECOMPILING
 *   WAITING      a free device             one takes it                                TRYING
 *                                          others hung meanwhile                       FINISHED
 *   TRYING       the device's answer       it is checked and timed, or failed          FINISHED
 *                                          the GPU is lost                             WAITING
 *   FOLLOWING    its twin's outcome        the one that stands for it has finished     FINISHED
 *   ABANDONED    nothing: time was up in one of the stages above but FOLLOWING
 *
 *   From here on it has an outcome, which a failure may still change:
 *
 *   FINISHED     nothing                   it is compiled for the race, or a check     RECOMPILING
 *                                          it is to be checked on its ragged problems  CHECK_DUE
 *   RECOMPILING  compile results           the last is there                           FINISHED
 *                                          ... and it was compiled for a check         CHECK_DUE
 *   CHECK_DUE    a free device             one takes it                                CHECKING
 *                                          it did not compile                          FINISHED
 *   CHECKING     the device's answer       it is there                                 FINISHED
 *                                          the GPU is lost                             CHECK_DUE
 *
 * Beside its stage a candidate has two courses of its own: its check on ragged problems
 * (candidate_ragged) and its proof (proof_verdict), which may come before its outcome or after it.
 */
#ifndef AUTOTUNE_RUN_VARIANT_STAGE_H
#define AUTOTUNE_RUN_VARIANT_STAGE_H

struct candidate;
struct candidates;

typedef enum candidate_stage {
    CANDIDATE_NEW,
    CANDIDATE_COMPILING,
    CANDIDATE_WAITING,
    CANDIDATE_TRYING,
    CANDIDATE_FOLLOWING,
    CANDIDATE_ABANDONED,
    CANDIDATE_FINISHED,
    CANDIDATE_RECOMPILING,
    CANDIDATE_CHECK_DUE,
    CANDIDATE_CHECKING,
    CANDIDATE_STAGES
} candidate_stage;

/* Moves a candidate of the table on. In debug builds the table above and the invariants of struct
 * candidate are asserted here. */
void candidates_move(struct candidates *table, struct candidate *c, candidate_stage to);

#endif
