/* Litmus tests of the memory model (PTX ISA, "memory consistency model"). The schedules of a check
 * must find every outcome that the model allows, and no outcome that the model forbids.
 *
 * A row has the code of its threads, an outcome, and a letter for each placement of the threads:
 * lanes of a warp, warps of a block, blocks of a cluster, and any blocks. Locations x, y and z
 * begin as 0. Registers are a to h. Statements:
 *
 *     x=1     store            a=x       load             @x=1    load until the value is 1
 *     x+=1    add              a=x+1     add              a=x?0>1 compare with 0, swap with 1
 *     x:=1    exchange         a=x:1     exchange         F       fence
 *
 * A statement is relaxed and has GPU scope unless a suffix changes this: .rel, .acq, .vol and .weak
 * of accesses, .ar and .sc of fences, .cta and .cl for the scope. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_fixture.h"

enum { MOST_THREADS = 4, REGISTERS = 8, LOCATIONS = 3, SEEDS = 5, STRIDE = 16 };

/* numbers of schedules: for an outcome that must occur, and for an outcome that must not occur */
enum { ORDERS = 256, ORDERS_IN_VAIN = 64 };

/* Verdicts of the memory model on an outcome. */
enum {
    ALLOWED = 'a',
    FORBIDDEN = 'f',
    RACES = 'r', /* accesses conflict and are not morally strong, so the kernel is rejected */
    BUFFERED =
        'l' /* allowed only by load buffering, which the simulated device does not simulate */
};

typedef struct litmus {
    const char *name, *threads, *outcome;
    const char *says; /* verdicts for lanes, warps, blocks of a cluster, and any blocks */
} litmus;

static const litmus rows[] = {
    /* Store buffering */
    {"SB", "x=1 a=y | y=1 b=x", "a=0 b=0", "aaaa"},
    {"SB, one after the other", "x=1 a=y | y=1 b=x", "a=0 b=1", "aaaa"},
    {"SB, both seen", "x=1 a=y | y=1 b=x", "a=1 b=1", "aaaa"},
    {"SB+vol", "x=1.vol a=y.vol | y=1.vol b=x.vol", "a=0 b=0", "aaaa"},
    {"SB+ar", "x=1 F.ar a=y | y=1 F.ar b=x", "a=0 b=0", "aaaa"},
    {"SB+rel+acq", "x=1.rel a=y.acq | y=1.rel b=x.acq", "a=0 b=0", "aaaa"},
    {"SB+sc", "x=1 F.sc a=y | y=1 F.sc b=x", "a=0 b=0", "ffff"},
    {"SB+sc, one after the other", "x=1 F.sc a=y | y=1 F.sc b=x", "a=0 b=1", "aaaa"},
    {"SB+sc+vol", "x=1.vol F.sc a=y.vol | y=1.vol F.sc b=x.vol", "a=0 b=0", "ffff"},
    {"SB+sc+none", "x=1 F.sc a=y | y=1 b=x", "a=0 b=0", "aaaa"},
    {"SB+sc+ar", "x=1 F.sc a=y | y=1 F.ar b=x", "a=0 b=0", "aaaa"},
    {"SB+sc.cta", "x=1 F.sc.cta a=y | y=1 F.sc.cta b=x", "a=0 b=0", "ffaa"},
    {"SB+sc.cl", "x=1 F.sc.cl a=y | y=1 F.sc.cl b=x", "a=0 b=0", "fffa"},
    {"SB+sc+sc.cta", "x=1 F.sc a=y | y=1 F.sc.cta b=x", "a=0 b=0", "ffaa"},
    {"SB+sc.cl+sc", "x=1 F.sc.cl a=y | y=1 F.sc b=x", "a=0 b=0", "fffa"},
    {"SB.cta", "x=1.cta a=y.cta | y=1.cta b=x.cta", "a=0 b=0", "aarr"},
    {"SB.cl", "x=1.cl a=y.cl | y=1.cl b=x.cl", "a=0 b=0", "aaar"},
    {"SB+exchange", "a=x:1 b=y | c=y:1 d=x", "b=0 d=0", "aaaa"},
    {"SB+exchange+sc", "a=x:1 F.sc b=y | c=y:1 F.sc d=x", "b=0 d=0", "ffff"},
    {"SB+update", "x=1 a=y+0 | y=1 b=x+0", "a=0 b=0", "aaaa"},
    {"SB+update+sc", "x=1 F.sc a=y+0 | y=1 F.sc b=x+0", "a=0 b=0", "ffff"},
    {"SB+updates", "a=x+1 b=y+0 | c=y+1 d=x+0", "b=0 d=0", "ffff"},
    {"SB+adds", "x+=1 a=y | y+=1 b=x", "a=0 b=0", "aaaa"},
    {"SB+adds+sc", "x+=1 F.sc a=y | y+=1 F.sc b=x", "a=0 b=0", "ffff"},
    {"SB of three", "x=1 a=y | y=1 b=z | z=1 c=x", "a=0 b=0 c=0", "aaaa"},
    {"SB of three+sc", "x=1 F.sc a=y | y=1 F.sc b=z | z=1 F.sc c=x", "a=0 b=0 c=0", "ffff"},

    /* Message passing */
    {"MP", "x=1 y=1 | a=y b=x", "a=1 b=0", "aaaa"},
    {"MP, seen", "x=1 y=1 | a=y b=x", "a=1 b=1", "aaaa"},
    {"MP, not yet", "x=1 y=1 | a=y b=x", "a=0 b=1", "aaaa"},
    {"MP+vol", "x=1.vol y=1.vol | a=y.vol b=x.vol", "a=1 b=0", "aaaa"},
    {"MP+vol+sc", "x=1.vol F.sc y=1.vol | a=y.vol F.sc b=x.vol", "a=1 b=0", "ffff"},
    {"MP+ar", "x=1 F.ar y=1 | a=y F.ar b=x", "a=1 b=0", "ffff"},
    {"MP+ar, not yet", "x=1 F.ar y=1 | a=y F.ar b=x", "a=0 b=1", "aaaa"},
    {"MP+sc", "x=1 F.sc y=1 | a=y F.sc b=x", "a=1 b=0", "ffff"},
    {"MP+rel+acq", "x=1 y=1.rel | a=y.acq b=x", "a=1 b=0", "ffff"},
    {"MP+rel+ar", "x=1 y=1.rel | a=y F.ar b=x", "a=1 b=0", "ffff"},
    {"MP+ar+acq", "x=1 F.ar y=1 | a=y.acq b=x", "a=1 b=0", "ffff"},
    {"MP+ar+none", "x=1 F.ar y=1 | a=y b=x", "a=1 b=0", "aaaa"},
    {"MP+none+ar", "x=1 y=1 | a=y F.ar b=x", "a=1 b=0", "aaaa"},
    {"MP+sc+none", "x=1 F.sc y=1 | a=y b=x", "a=1 b=0", "aaaa"},
    {"MP+rel+none", "x=1 y=1.rel | a=y b=x", "a=1 b=0", "aaaa"},
    {"MP+none+acq", "x=1 y=1 | a=y.acq b=x", "a=1 b=0", "aaaa"},
    {"MP+ar.cta", "x=1 F.ar.cta y=1 | a=y F.ar.cta b=x", "a=1 b=0", "ffaa"},
    {"MP+ar.cl", "x=1 F.ar.cl y=1 | a=y F.ar.cl b=x", "a=1 b=0", "fffa"},
    {"MP+ar+ar.cta", "x=1 F.ar y=1 | a=y F.ar.cta b=x", "a=1 b=0", "ffaa"},
    {"MP+ar.cl+ar", "x=1 F.ar.cl y=1 | a=y F.ar b=x", "a=1 b=0", "fffa"},
    {"MP+rel+acq.cta", "x=1 y=1.rel.cta | a=y.acq.cta b=x", "a=1 b=0", "ffrr"},
    {"MP+rel+acq.cl", "x=1 y=1.rel.cl | a=y.acq.cl b=x", "a=1 b=0", "fffr"},
    {"MP+add+acq", "x=1 F.ar y+=1 | a=y.acq b=x", "a=1 b=0", "ffff"},
    {"MP+add", "x=1 y+=1 | a=y b=x", "a=1 b=0", "aaaa"},
    {"MP+update+acq", "x=1 y=1.rel | a=y+0.acq b=x", "a=1 b=0", "ffff"},
    {"MP+update", "x=1 y=1.rel | a=y+0 b=x", "a=1 b=0", "aaaa"},
    {"MP+swap", "x=1 F.ar y=1 | a=y?1>2.acq b=x", "a=1 b=0", "ffff"},
    {"MP of an add", "x+=1 y=1 | a=y b=x", "a=1 b=0", "aaaa"},
    {"MP of an add to an update", "x+=1 y=1 | a=y b=x+0", "a=1 b=0", "aaaa"},
    {"MP of an add to an update+ar", "x+=1 F.ar y=1 | a=y F.ar b=x+0", "a=1 b=0", "ffff"},
    {"MP, awaited", "x=1 y=1 | @y=1 b=x", "b=0", "aaaa"},
    {"MP, awaited+rel+acq", "x=1 y=1.rel | @y=1.acq b=x", "b=0", "ffff"},
    {"MP, awaited+ar", "x=1 F.ar y=1 | @y=1 F.ar b=x", "b=0", "ffff"},
    {"MP, awaited, both weak", "x=1.weak y=1.rel | @y=1.acq b=x.weak", "b=1", "aaaa"},
    {"MP, awaited, weak+none", "x=1.weak y=1 | @y=1.acq b=x.weak", "b=1", "rrrr"},
    {"MP, awaited, weak+ar+none", "x=1.weak F.ar y=1 | @y=1 b=x.weak", "b=1", "rrrr"},
    {"MP, awaited, weak+cta", "x=1.weak F.ar.cta y=1 | @y=1 F.ar.cta b=x.weak", "b=1", "aarr"},
    {"MP, weak", "x=1.weak y=1 | a=y b=x.weak", "a=1 b=0", "rrrr"},

    /* Release sequences */
    {"update hands on", "x=1 y=1.rel | a=y+1 | b=y.acq c=x", "a=1 b=2 c=0", "ffff"},
    {"add hands on", "x=1 F.ar y+=1 | y+=1 | @y=2.acq b=x", "b=0", "ffff"},
    {"exchange hands on", "x=1 y=1.rel | a=y:2 | b=y.acq c=x", "a=1 b=2 c=0", "ffff"},
    {"another's store does not", "x=1 y=1.rel | a=y y=2 | b=y.acq c=x", "a=1 b=2 c=0", "aaaa"},
    {"own store hands on", "x=1 y=1.rel y=2 | a=y.acq b=x", "a=2 b=0", "ffff"},
    {"own store before it does not", "x=1 y=2 y=1.rel | a=y.acq b=x", "a=2 b=0", "aaaa"},

    /* Load buffering */
    {"LB", "a=x y=1 | b=y x=1", "a=1 b=1", "llll"},
    {"LB, one", "a=x y=1 | b=y x=1", "a=1 b=0", "aaaa"},
    {"LB, none", "a=x y=1 | b=y x=1", "a=0 b=0", "aaaa"},
    {"LB+ar", "a=x F.ar y=1 | b=y F.ar x=1", "a=1 b=1", "ffff"},
    {"LB+acq+rel", "a=x.acq y=1.rel | b=y.acq x=1.rel", "a=1 b=1", "ffff"},
    {"LB+ar+sc", "a=x F.ar y=1 | b=y F.sc x=1", "a=1 b=1", "ffff"},

    /* Independent reads of independent writes */
    {"IRIW", "x=1 | y=1 | a=x b=y | c=y d=x", "a=1 b=0 c=1 d=0", "aaaa"},
    {"IRIW+vol", "x=1.vol | y=1.vol | a=x.vol b=y.vol | c=y.vol d=x.vol", "a=1 b=0 c=1 d=0",
     "aaaa"},
    {"IRIW+acq", "x=1.rel | y=1.rel | a=x.acq b=y.acq | c=y.acq d=x.acq", "a=1 b=0 c=1 d=0",
     "aaaa"},
    {"IRIW+ar", "x=1 | y=1 | a=x F.ar b=y | c=y F.ar d=x", "a=1 b=0 c=1 d=0", "aaaa"},
    {"IRIW+sc", "x=1 | y=1 | a=x F.sc b=y | c=y F.sc d=x", "a=1 b=0 c=1 d=0", "ffff"},
    {"IRIW+sc+ar", "x=1 | y=1 | a=x F.sc b=y | c=y F.ar d=x", "a=1 b=0 c=1 d=0", "aaaa"},
    {"IRIW+sc.cta", "x=1 | y=1 | a=x F.sc.cta b=y | c=y F.sc.cta d=x", "a=1 b=0 c=1 d=0", "ffaa"},
    {"IRIW+sc.cl", "x=1 | y=1 | a=x F.sc.cl b=y | c=y F.sc.cl d=x", "a=1 b=0 c=1 d=0", "fffa"},
    {"IRIW+adds", "x+=1 | y+=1 | a=x b=y | c=y d=x", "a=1 b=0 c=1 d=0", "aaaa"},

    /* Write to read causality */
    {"WRC", "x=1 | a=x y=1 | b=y c=x", "a=1 b=1 c=0", "aaaa"},
    {"WRC+ar", "x=1 | a=x F.ar y=1 | b=y F.ar c=x", "a=1 b=1 c=0", "ffff"},
    {"WRC+rel+acq", "x=1 | a=x y=1.rel | b=y.acq c=x", "a=1 b=1 c=0", "ffff"},
    {"WRC+sc", "x=1 | a=x F.sc y=1 | b=y F.sc c=x", "a=1 b=1 c=0", "ffff"},
    {"WRC+ar+none", "x=1 | a=x F.ar y=1 | b=y c=x", "a=1 b=1 c=0", "aaaa"},
    {"WRC+none+ar", "x=1 | a=x y=1 | b=y F.ar c=x", "a=1 b=1 c=0", "aaaa"},
    {"WRC+ar.cta", "x=1 | a=x F.ar.cta y=1 | b=y F.ar.cta c=x", "a=1 b=1 c=0", "ffaa"},
    {"WRC+ar.cl", "x=1 | a=x F.ar.cl y=1 | b=y F.ar.cl c=x", "a=1 b=1 c=0", "fffa"},
    {"WRC+updates", "x=1 | a=x+0 y=1.rel | b=y.acq c=x", "a=1 b=1 c=0", "ffff"},
    {"RWC", "x=1 | a=x b=y | y=1 c=x", "a=1 b=0 c=0", "aaaa"},
    {"RWC+ar", "x=1 | a=x F.ar b=y | y=1 F.ar c=x", "a=1 b=0 c=0", "aaaa"},
    {"RWC+sc", "x=1 | a=x F.sc b=y | y=1 F.sc c=x", "a=1 b=0 c=0", "ffff"},
    {"RWC+sc.cta", "x=1 | a=x F.sc.cta b=y | y=1 F.sc.cta c=x", "a=1 b=0 c=0", "ffaa"},

    /* Chains */
    {"ISA2", "x=1 y=1 | a=y z=1 | b=z c=x", "a=1 b=1 c=0", "aaaa"},
    {"ISA2+ar", "x=1 F.ar y=1 | a=y F.ar z=1 | b=z F.ar c=x", "a=1 b=1 c=0", "ffff"},
    {"ISA2+rel+acq", "x=1 y=1.rel | a=y.acq z=1.rel | b=z.acq c=x", "a=1 b=1 c=0", "ffff"},
    {"ISA2+rel+none+acq", "x=1 y=1.rel | a=y z=1.rel | b=z.acq c=x", "a=1 b=1 c=0", "aaaa"},
    {"ISA2+ar+ar+none", "x=1 F.ar y=1 | a=y F.ar z=1 | b=z c=x", "a=1 b=1 c=0", "aaaa"},
    {"ISA2+ar.cta", "x=1 F.ar.cta y=1 | a=y F.ar.cta z=1 | b=z F.ar.cta c=x", "a=1 b=1 c=0",
     "ffaa"},
    {"ISA2+ar.cl", "x=1 F.ar.cl y=1 | a=y F.ar.cl z=1 | b=z F.ar.cl c=x", "a=1 b=1 c=0", "fffa"},
    {"SB+sc, handed on", "x=1 F.sc a=y | y=1 F.sc z=1.rel | b=z.acq c=x", "a=0 b=1 c=0", "ffff"},
    {"SB+ar, handed on", "x=1 F.ar a=y | y=1 F.ar z=1.rel | b=z.acq c=x", "a=0 b=1 c=0", "aaaa"},

    /* R and S: two writes on each side */
    {"R", "x=1 y=1 | y=2 a=x", "y=2 a=0", "aaaa"},
    {"R+ar", "x=1 F.ar y=1 | y=2 F.ar a=x", "y=2 a=0", "aaaa"},
    {"R+rel", "x=1 y=1.rel | y=2 a=x.acq", "y=2 a=0", "aaaa"},
    {"R+sc", "x=1 F.sc y=1 | y=2 F.sc a=x", "y=2 a=0", "ffff"},
    {"R+sc+ar", "x=1 F.sc y=1 | y=2 F.ar a=x", "y=2 a=0", "aaaa"},
    {"R+sc.cta", "x=1 F.sc.cta y=1 | y=2 F.sc.cta a=x", "y=2 a=0", "ffaa"},
    {"R+sc.cl", "x=1 F.sc.cl y=1 | y=2 F.sc.cl a=x", "y=2 a=0", "fffa"},
    {"S", "x=2 y=1 | a=y x=1", "a=1 x=2", "aaaa"},
    {"S+ar", "x=2 F.ar y=1 | a=y F.ar x=1", "a=1 x=2", "ffff"},
    {"S+rel+acq", "x=2 y=1.rel | a=y.acq x=1", "a=1 x=2", "ffff"},
    {"S+rel+none", "x=2 y=1.rel | a=y x=1", "a=1 x=2", "aaaa"},
    {"S+ar.cta", "x=2 F.ar.cta y=1 | a=y F.ar.cta x=1", "a=1 x=2", "ffaa"},
    {"S+ar.cl", "x=2 F.ar.cl y=1 | a=y F.ar.cl x=1", "a=1 x=2", "fffa"},
    {"2+2W", "x=1 y=2 | y=1 x=2", "x=1 y=1", "aaaa"},
    {"2+2W+vol", "x=1.vol y=2.vol | y=1.vol x=2.vol", "x=1 y=1", "aaaa"},
    {"2+2W+ar", "x=1 F.ar y=2 | y=1 F.ar x=2", "x=1 y=1", "aaaa"},
    {"2+2W+rel", "x=1 y=2.rel | y=1 x=2.rel", "x=1 y=1", "aaaa"},
    {"2+2W+sc", "x=1 F.sc y=2 | y=1 F.sc x=2", "x=1 y=1", "ffff"},
    {"2+2W+sc.cta", "x=1 F.sc.cta y=2 | y=1 F.sc.cta x=2", "x=1 y=1", "ffaa"},
    {"2+2W+sc.cl", "x=1 F.sc.cl y=2 | y=1 F.sc.cl x=2", "x=1 y=1", "fffa"},
    {"2+2W+exchange", "x:=1 y:=2 | y:=1 x:=2", "x=1 y=1", "aaaa"},
    {"2+2W+exchange+sc", "x:=1 F.sc y:=2 | y:=1 F.sc x:=2", "x=1 y=1", "ffff"},
    {"Z6+ar", "x=1 F.ar y=1 | y=2 F.ar z=1 | a=z F.ar b=x", "y=2 a=1 b=0", "aaaa"},
    {"Z6+sc", "x=1 F.sc y=1 | y=2 F.sc z=1 | a=z F.sc b=x", "y=2 a=1 b=0", "ffff"},

    /* Coherence */
    {"CoRR", "x=1 | a=x b=x", "a=1 b=0", "ffff"},
    {"CoRR+vol", "x=1.vol | a=x.vol b=x.vol", "a=1 b=0", "ffff"},
    {"CoRR, in turn", "x=1 | a=x b=x", "a=0 b=1", "aaaa"},
    {"CoRR of two", "x=1 | x=2 | a=x b=x | c=x d=x", "a=1 b=2 c=2 d=1", "ffff"},
    {"CoRR of two, in turn", "x=1 | x=2 | a=x b=x", "a=2 b=1", "aaaa"},
    {"CoRR of updates", "x+=1 | a=x+0 b=x", "a=1 b=0", "ffff"},
    {"CoWW", "x=1 x=2 | a=x", "x=1", "ffff"},
    {"CoWW, seen", "x=1 x=2 | a=x b=x", "a=2 b=1", "ffff"},
    {"CoWW, old", "x=1 x=2 | a=x b=x", "a=1 b=2", "aaaa"},
    {"CoRW", "a=x x=1 | x=2", "a=1", "ffff"},
    {"CoRW of two", "a=x x=1 | x=2", "a=2 x=2", "ffff"},
    {"CoRW, after", "a=x x=1 | x=2", "a=2 x=1", "aaaa"},
    {"CoRW, before", "a=x x=1 | x=2", "a=0 x=2", "aaaa"},
    {"CoWR", "x=1 a=x | x=2", "a=0", "ffff"},
    {"CoWR of two", "x=1 a=x | x=2", "a=2 x=1", "ffff"},
    {"CoWR, after", "x=1 a=x | x=2", "a=2 x=2", "aaaa"},
    {"CoWR, before", "x=1 a=x | x=2", "a=1 x=2", "aaaa"},
    {"CoWR of an add", "x+=1 a=x | x+=1", "a=0", "ffff"},

    /* Atomicity */
    {"adds", "x+=1 | x+=1 | a=x", "x=1", "ffff"},
    {"updates", "a=x+1 | b=x+1", "a=0 b=0", "ffff"},
    {"exchanges", "a=x:1 | b=x:2", "a=0 b=0", "ffff"},
    {"swaps", "a=x?0>1 | b=x?0>2", "a=0 b=0", "ffff"},
    {"swap, too late", "a=x?0>1 | x=2", "a=2 x=1", "ffff"},
    {"update and store", "a=x+1 | x=5", "a=0 x=6", "ffff"},
    {"store within an update", "a=x+1 | x=5", "a=0 x=1", "ffff"},
    {"store after an update", "a=x+1 | x=5", "a=0 x=5", "aaaa"},
    {"store before an update", "a=x+1 | x=5", "a=5 x=6", "aaaa"},
    {"update before an add", "x+=1 y=1 | a=y b=x+1", "a=1 b=0 x=2", "aaaa"},
    {"store before an add", "x+=1 y=1 | a=y x=5", "a=1 x=6", "aaaa"},
};

typedef enum placement { LANES, WARPS, CLUSTER, BLOCKS, PLACEMENTS } placement;
static const char *const placements[] = {"lanes", "warps", "blocks of a cluster", "blocks"};

/* The PTX of a row while it is written. */
typedef struct writer {
    char text[16384];
    size_t used;
    int labels;
    const char *at; /* position in the code of the row */
    bool is_shared;
} writer;

static void put(writer *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(p->text + p->used, sizeof p->text - p->used, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < sizeof p->text - p->used);
    p->used += (size_t)n;
}

static int take_number(writer *p)
{
    char *end;
    const long v = strtol(p->at, &end, 10);
    assert_ptr_not_equal(end, p->at);
    p->at = end;
    return (int)v;
}

static bool take(writer *p, const char *word)
{
    const size_t n = strlen(word);
    const bool found = strncmp(p->at, word, n) == 0;
    p->at += found ? n : 0;
    return found;
}

/* Reads suffixes and writes them in PTX. `order` is the order of accesses without a suffix. */
static void take_suffixes(writer *p, char text[48], const char *order)
{
    const char *scope = ".gpu";
    while (*p->at == '.') {
        if (take(p, ".rel"))
            order = ".release";
        else if (take(p, ".acq"))
            order = ".acquire";
        else if (take(p, ".ar"))
            order = ".acq_rel";
        else if (take(p, ".sc"))
            order = ".sc";
        else if (take(p, ".vol"))
            order = ".volatile";
        else if (take(p, ".weak"))
            order = ".weak";
        else if (take(p, ".cta"))
            scope = ".cta";
        else if (take(p, ".cl"))
            scope = ".cluster";
        else
            fail_msg("suffix %s", p->at);
    }
    const bool scoped = strcmp(order, ".volatile") != 0 && strcmp(order, ".weak") != 0;
    snprintf(text, 48, "%s%s", order, scoped ? scope : "");
}

static void write_access(writer *p, const char *what, const char *suffixes, const char *kind)
{
    put(p, "%s%s.%s%s.u32 ", what, suffixes, p->is_shared ? "shared::cluster" : "global", kind);
}

static void write_statement(writer *p)
{
    char suffixes[48];
    if (take(p, "F")) {
        take_suffixes(p, suffixes, ".acq_rel");
        put(p, "fence%s;\n", suffixes);
        return;
    }
    const bool awaits = take(p, "@");
    const char to = *p->at++;
    if (awaits) {
        assert_true(take(p, "="));
        const int v = take_number(p), label = p->labels++;
        take_suffixes(p, suffixes, ".relaxed");
        put(p, "L%d: ", label);
        write_access(p, "ld", suffixes, "");
        put(p, "%%t, [%%%c];\nsetp.ne.u32 %%p, %%t, %d;\n@%%p bra L%d;\n", to, v, label);
        return;
    }
    const bool is_load = to < 'x';
    const bool adds = take(p, "+="), exchanges = take(p, ":=");
    if (!adds && !exchanges)
        assert_true(take(p, "="));
    if (!is_load) {
        const int v = take_number(p);
        take_suffixes(p, suffixes, ".relaxed");
        write_access(p,
                     adds        ? "red"
                     : exchanges ? "atom"
                                 : "st",
                     suffixes,
                     adds        ? ".add"
                     : exchanges ? ".exch"
                                 : "");
        put(p, exchanges ? "%%unused, [%%%c], %d;\n" : "[%%%c], %d;\n", to, v);
        return;
    }
    const char from = *p->at++;
    const char op = *p->at;
    int v = 0, other = 0;
    if (op == '+' || op == ':' || op == '?') {
        p->at++;
        v = take_number(p);
    }
    if (op == '?') {
        assert_true(take(p, ">"));
        other = take_number(p);
    }
    take_suffixes(p, suffixes, ".relaxed");
    write_access(p, op == '+' || op == ':' || op == '?' ? "atom" : "ld", suffixes,
                 op == '+'   ? ".add"
                 : op == ':' ? ".exch"
                 : op == '?' ? ".cas"
                             : "");
    put(p, "%%%c, [%%%c]", to, from);
    if (op == '?')
        put(p, ", %d, %d", v, other);
    else if (op == '+' || op == ':')
        put(p, ", %d", v);
    put(p, ";\n");
}

static int count_threads(const litmus *row)
{
    int n = 1;
    for (const char *c = row->threads; *c; c++)
        n += *c == '|';
    return n;
}

static void write_barrier(writer *p, placement where)
{
    if (where == CLUSTER)
        put(p, "barrier.cluster.arrive;\nbarrier.cluster.wait;\n");
    else
        put(p, "bar.sync 0;\n");
}

/* Writes a kernel whose parameters are the addresses of locations and of registers' values. */
static void write_kernel(writer *p, const litmus *row, placement where)
{
    const int threads = count_threads(row);
    *p = (writer){.at = row->threads, .is_shared = p->is_shared};
    put(p, ".version 8.0\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .u64 locations, .param .u64 registers)\n{\n"
           ".reg .pred %%p;\n.reg .b32 %%t, %%i, %%lane, %%unused;\n.reg .b64 %%base, %%r;\n"
           ".reg .b64 %%x, %%y, %%z;\n");
    for (int r = 0; r < REGISTERS; r++)
        put(p, ".reg .b32 %%%c;\nmov.u32 %%%c, 0;\n", 'a' + r, 'a' + r);
    if (p->is_shared)
        put(p, ".shared .align 16 .b8 s[%d];\n", LOCATIONS * STRIDE);
    put(p, "ld.param.u64 %%base, [locations];\nld.param.u64 %%r, [registers];\n"
           "cvta.to.global.u64 %%base, %%base;\ncvta.to.global.u64 %%r, %%r;\n");
    put(p, where == LANES   ? "mov.u32 %%i, %%tid.x;\n"
           : where == WARPS ? "mov.u32 %%t, %%tid.x;\nshr.u32 %%i, %%t, 5;\n"
                            : "mov.u32 %%i, %%ctaid.x;\n");
    put(p, "mov.u32 %%lane, %%laneid;\n");
    if (p->is_shared) {
        put(p, "mov.u64 %%x, s;\n");
        if (where == CLUSTER)
            put(p, "mapa.shared::cluster.u64 %%x, %%x, 0;\n");
    } else {
        put(p, "mov.u64 %%x, %%base;\n");
    }
    put(p, "add.u64 %%y, %%x, %d;\nadd.u64 %%z, %%x, %d;\n", STRIDE, 2 * STRIDE);
    if (p->is_shared) {
        put(p, "or.b32 %%t, %%i, %%lane;\nsetp.ne.u32 %%p, %%t, 0;\n@%%p bra BEGIN;\n");
        for (int i = 0; i < LOCATIONS; i++)
            put(p, "st.shared.u32 [s+%d], 0;\n", i * STRIDE);
        put(p, "BEGIN:\n");
        write_barrier(p, where);
    }
    if (where != LANES)
        put(p, "setp.ne.u32 %%p, %%lane, 0;\n@%%p bra END;\n");
    for (int t = 0; t < threads; t++) {
        put(p, "setp.ne.u32 %%p, %%i, %d;\n@%%p bra T%d;\n", t, t + 1);
        while (*p->at && *p->at != '|') {
            if (!isspace((unsigned char)*p->at))
                write_statement(p);
            else
                p->at++;
        }
        p->at += *p->at == '|';
        put(p, "bra END;\nT%d:\n", t + 1);
    }
    put(p, "END:\n");
    for (int r = 0; r < REGISTERS; r++) {
        /* Only threads that use the register store its value; the value stays 0 otherwise. */
        put(p, "setp.eq.u32 %%p, %%%c, 0;\n@!%%p st.global.u32 [%%r+%d], %%%c;\n", 'a' + r, 4 * r,
            'a' + r);
    }
    if (p->is_shared) {
        write_barrier(p, where);
        put(p, "or.b32 %%t, %%i, %%lane;\nsetp.ne.u32 %%p, %%t, 0;\n@%%p bra LAST;\n");
        for (int i = 0; i < LOCATIONS; i++)
            put(p, "ld.shared.u32 %%t, [s+%d];\nst.global.u32 [%%base+%d], %%t;\n", i * STRIDE,
                i * STRIDE);
        put(p, "LAST:\n");
        if (where == CLUSTER)
            write_barrier(p, where);
    }
    put(p, "ret;\n}\n");
}

typedef struct memory {
    uint32_t locations[LOCATIONS * STRIDE / 4], registers[REGISTERS];
} memory;

static bool is_outcome(const char *text, const memory *m)
{
    bool is = true;
    for (const char *c = text; *c; c += *c == ' ') {
        const char name = *c;
        char *end;
        const uint32_t wanted = (uint32_t)strtoul(c + 2, &end, 10);
        const uint32_t found =
            name >= 'x' ? m->locations[(name - 'x') * STRIDE / 4] : m->registers[name - 'a'];
        is = is && found == wanted;
        c = end;
    }
    return is;
}

static uint32_t run_row(sim_test *t, memory *m, placement where, int threads, uint32_t schedule)
{
    *m = (memory){0};
    t->schedule = schedule;
    if (where == CLUSTER)
        t->cluster[0] = (uint32_t)threads, t->cluster[1] = t->cluster[2] = 1;
    const uint32_t grid = where >= CLUSTER ? (uint32_t)threads : 1,
                   block = where == WARPS ? 32 * (uint32_t)threads : 32;
    return sim_test_run(t, grid, 1, block, 1, 0);
}

/* Runs a row. Reports outcomes that contradict the row's verdict and returns their number. */
static int try_row(const litmus *row, placement where, bool is_shared)
{
    static writer p;
    memory m;
    sim_test t;
    const char says = row->says[where];
    const int threads = count_threads(row);
    const int orders = says == ALLOWED || says == RACES ? ORDERS : ORDERS_IN_VAIN;
    int wrong = 0, most = 0;
    p.is_shared = is_shared;
    write_kernel(&p, row, where);
    sim_test_init_ptx(&t, p.text, "k");
    t.threads = 1;
    sim_test_u64(&t, sim_test_buffer(&t, "locations", m.locations, sizeof m.locations, true));
    sim_test_u64(&t, sim_test_buffer(&t, "registers", m.registers, sizeof m.registers, true));
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        bool found = false;
        int order = 0;
        for (; order < orders && !found; order++) {
            const sim_fault_kind fault =
                run_row(&t, &m, where, threads, order ? seed * ORDERS + (uint32_t)order : 0);
            if (says == RACES ? fault != SIM_FAULT_NONE && fault != SIM_FAULT_RACE
                              : fault != SIM_FAULT_NONE)
                fail_msg("%s, %s, order %d: %s", row->name, placements[where], order,
                         t.fault.message);
            found = says == RACES ? fault == SIM_FAULT_RACE : is_outcome(row->outcome, &m);
        }
        most = order > most ? order : most;
        wrong += found != (says == ALLOWED || says == RACES);
    }
    if (getenv("LITMUS_SHOW"))
        print_message("%-32s %-20s %-6s %c %d orders\n", row->name, placements[where],
                      is_shared ? "shared" : "global", says, most);
    if (wrong)
        print_message("%s (%s), %s, %s memory: %s is %s on %d of %d seeds\n", row->name,
                      row->threads, placements[where], is_shared ? "shared" : "global",
                      row->outcome, says == ALLOWED || says == RACES ? "missed" : "found", wrong,
                      SEEDS);
    sim_test_deinit(&t);
    return wrong;
}

static void try_all(placement where, bool is_shared)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += try_row(&rows[i], where, is_shared) != 0;
    assert_int_equal(wrong, 0);
}

TEST(lanes_of_a_warp_have_the_allowed_outcomes_in_global_memory)
{
    try_all(LANES, false);
}

TEST(warps_of_a_block_have_the_allowed_outcomes_in_global_memory)
{
    try_all(WARPS, false);
}

TEST(blocks_of_a_cluster_have_the_allowed_outcomes_in_global_memory)
{
    try_all(CLUSTER, false);
}

TEST(other_blocks_have_the_allowed_outcomes_in_global_memory)
{
    try_all(BLOCKS, false);
}

TEST(lanes_of_a_warp_have_the_allowed_outcomes_in_shared_memory)
{
    try_all(LANES, true);
}

TEST(warps_of_a_block_have_the_allowed_outcomes_in_shared_memory)
{
    try_all(WARPS, true);
}

TEST(blocks_of_a_cluster_have_the_allowed_outcomes_in_shared_memory)
{
    try_all(CLUSTER, true);
}
