#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of the table, which stands for several forms. {a,b} in a name lists alternatives. In a
 * body, $0 is the name up to its first blank, and $1 .. $9 are the chosen alternatives. A body of
 * NULL stands for the name, the result and the sources, separated by commas. */
typedef struct row {
    const char *names;
    const char *kinds;
    const char *body;
} row;

#define ROUNDINGS "{.rn,.rz,.rm,.rp}"
#define INTEGER_COMPARISONS "{eq,ne,lt,le,gt,ge}"
#define UNSIGNED_COMPARISONS "{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}"
#define FLOAT_COMPARISONS "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"

/* A comparison with its two results. */
#define SETP "{.reg .pred q, t; $0 q|t, $a, $b; selp.u32 $d, 1, 0, q; @t add.u32 $d, $d, 2;}"
#define SETP_ONE "{.reg .pred q; $0 q, $a, $b; selp.u32 $d, 1, 0, q;}"
#define SETP_BOOL                                                                                  \
    "{.reg .pred q, t; $0 q|t, $a, $b, $c; selp.u32 $d, 1, 0, q; @t add.u32 $d, $d, 2;}"
#define TESTP "{.reg .pred q; $0 q, $a; selp.u32 $d, 1, 0, q;}"

/* Sums of two words with a carry. The top bit of the result is the carry. */
#define TO_WORDS(first, second)                                                                    \
    "{.reg .b32 t, u, v; .reg .b64 w; " first second                                               \
    "mov.b64 $d, {t, u}; cvt.u64.u32 w, v; shl.b64 w, w, 63; xor.b64 $d, $d, w;}"
#define TO_LONG(first, second)                                                                     \
    "{.reg .b64 t, u, v, w; " first second                                                         \
    "shl.b64 w, v, 63; shl.b64 u, u, 1; xor.b64 $d, t, u; xor.b64 $d, $d, w;}"

#define ATOMIC(space, at, bits)                                                                    \
    "{.reg .b" bits " t; st" space ".b" bits " [" at "], $a; $0 t, [" at "], $b; ld" space         \
    ".b" bits " $d, [" at "]; xor.b" bits " $d, $d, t;}"
#define REDUCTION(space, at, bits)                                                                 \
    "{st" space ".b" bits " [" at "], $a; $0 [" at "], $b; ld" space ".b" bits " $d, [" at "];}"
#define SWAP(space, at, bits)                                                                      \
    "{.reg .b" bits " t; st" space ".b" bits " [" at "], $a; $0 t, [" at "], $b, $c; ld" space     \
    ".b" bits " $d, [" at "]; xor.b" bits " $d, $d, t;}"
#define ATOMIC_FLOAT(space, at, bits)                                                              \
    "{.reg .b" bits " t; st" space ".b" bits " [" at "], $a; $0 t, [" at "], $b; ld" space         \
    ".b" bits " $d, [" at "];}"

/* 128-bit instructions: the address of a thread's 16 bytes, and 128 bits folded into a word. */
#define IN_GLOBAL "mov.u64 w, wides; mad.wide.u32 w, %i, 16, w; "
#define IN_SHARED "mov.u32 n, %tid.x; mov.u64 w, words; mad.wide.u32 w, n, 16, w; "
#define WIDE "{.reg .b128 q, u; .reg .b64 w, s, t; .reg .b32 n; .reg .pred p; "
#define FOLD(wide) "mov.b128 {s, t}, " wide "; mad.lo.u64 $d, t, 3, s; "
#define FOLD_BOTH FOLD("u") "mov.b128 {s, t}, q; mad.lo.u64 s, t, 5, s; mad.lo.u64 $d, s, 7, $d;}"
#define WIDE_EXCHANGE(space, at)                                                                   \
    WIDE at "mov.b128 q, {$a, $b}; st" space ".b128 [w], q; mov.b128 q, {$c, $e}; $0 u, [w], q; "  \
            "ld" space ".b128 q, [w]; " FOLD_BOTH
/* A compare-and-swap that succeeds if c is odd. */
#define WIDE_SWAP(space, at)                                                                       \
    WIDE at "mov.b128 q, {$a, $b}; st" space ".b128 [w], q; and.b64 s, $c, 1; "                    \
            "setp.eq.u64 p, s, 1; selp.b64 s, $b, $c, p; mov.b128 q, {$a, s}; "                    \
            "mov.b128 u, {$c, $a}; $0 u, [w], q, u; ld" space ".b128 q, [w]; " FOLD_BOTH

static const row rows[] = {
    /* integers */
    {"{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u,s}16", "h:hh", NULL},
    {"{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u,s}32", "r:rr", NULL},
    {"{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u,s}64", "x:xx", NULL},
    {"{add,sub}.sat.s32", "r:rr", NULL},
    {"{add,min,max}.{u,s}16x2", "r:rr", NULL},
    {"{min,max}.relu.{s32,s16x2}", "r:rr", NULL},
    {"{min,max}.{s32,s16x2}.relu", "r:rr", NULL},
    {"mul.wide.{u,s}16", "r:hh", NULL},
    {"mul.wide.{u,s}32", "x:rr", NULL},
    {"mad.{lo,hi}.{u,s}16", "h:hhh", NULL},
    {"mad.{lo,hi}.{u,s}32", "r:rrr", NULL},
    {"mad.{lo,hi}.{u,s}64", "x:xxx", NULL},
    {"mad.hi.sat.s32", "r:rrr", NULL},
    {"mad.wide.{u,s}16", "r:hhr", NULL},
    {"mad.wide.{u,s}32", "x:rrx", NULL},
    {"mul24.{lo,hi}.{u,s}32", "r:rr", NULL},
    {"mad24.{lo,hi}.{u,s}32", "r:rrr", NULL},
    {"mad24.hi.sat.s32", "r:rrr", NULL},
    {"sad.{u,s}16", "h:hhh", NULL},
    {"sad.{u,s}32", "r:rrr", NULL},
    {"sad.{u,s}64", "x:xxx", NULL},
    {"{abs,neg}.s16", "h:h", NULL},
    {"{abs,neg}.s32", "r:r", NULL},
    {"{abs,neg}.s64", "x:x", NULL},
    {"{popc,clz}.b32", "r:r", NULL},
    {"{popc,clz}.b64", "r:x", NULL},
    {"bfind{,.shiftamt}.{u,s}32", "r:r", NULL},
    {"bfind{,.shiftamt}.{u,s}64", "r:x", NULL},
    {"fns.b32", "r:rss", NULL},
    {"brev.b32", "r:r", NULL},
    {"brev.b64", "x:x", NULL},
    {"bfe.{u,s}32", "r:rss", NULL},
    {"bfe.{u,s}64", "x:xss", NULL},
    {"bfi.b32", "r:rrss", NULL},
    {"bfi.b64", "x:xxss", NULL},
    {"szext.{clamp,wrap}.{u,s}32", "r:rs", NULL},
    {"bmsk.{clamp,wrap}.b32", "r:ss", NULL},
    {"dp4a.{u,s}32.{u,s}32", "r:rrr", NULL},
    {"dp2a.{lo,hi}.{u,s}32.{u,s}32", "r:rrr", NULL},

    /* carries */
    {"add.cc.{u,s}32", "x:rrrr",
     TO_WORDS("$0 t, $a, $b; ", "addc.cc.$132 u, $c, $e; addc.u32 v, 0, 0; ")},
    {"addc.{u,s}32", "x:rrrr", TO_WORDS("add.cc.u32 t, $a, $b; ", "$0 u, $c, $e; mov.b32 v, 0; ")},
    {"addc.cc.{u,s}32", "x:rrrr",
     TO_WORDS("add.cc.u32 t, $a, $b; ", "$0 u, $c, $e; addc.u32 v, 0, 0; ")},
    {"sub.cc.{u,s}32", "x:rrrr",
     TO_WORDS("$0 t, $a, $b; ", "subc.cc.$132 u, $c, $e; subc.u32 v, 0, 0; ")},
    {"subc.{u,s}32", "x:rrrr", TO_WORDS("sub.cc.u32 t, $a, $b; ", "$0 u, $c, $e; mov.b32 v, 0; ")},
    {"subc.cc.{u,s}32", "x:rrrr",
     TO_WORDS("sub.cc.u32 t, $a, $b; ", "$0 u, $c, $e; subc.u32 v, 0, 0; ")},
    {"{add,sub}.cc.{u,s}64", "x:xxxx",
     TO_LONG("$0 t, $a, $b; ", "$1c.cc.$264 u, $c, $e; $1c.u64 v, 0, 0; ")},
    {"{add,sub}c.{u,s}64", "x:xxxx",
     TO_LONG("$1.cc.u64 t, $a, $b; ", "$0 u, $c, $e; mov.b64 v, 0; ")},
    {"{add,sub}c.cc.{u,s}64", "x:xxxx",
     TO_LONG("$1.cc.u64 t, $a, $b; ", "$0 u, $c, $e; $1c.u64 v, 0, 0; ")},
    {"mad.{lo,hi}.cc.{u,s}32", "x:rrr",
     TO_WORDS("$0 t, $a, $b, $c; ", "addc.u32 u, 0, 0; mov.b32 v, 0; ")},
    {"madc.{lo,hi}.{u,s}32", "x:rrrr",
     TO_WORDS("add.cc.u32 t, $c, $e; ", "$0 u, $a, $b, $c; mov.b32 v, 0; ")},
    {"madc.{lo,hi}.cc.{u,s}32", "x:rrrr",
     TO_WORDS("add.cc.u32 t, $c, $e; ", "$0 u, $a, $b, $c; addc.u32 v, 0, 0; ")},
    {"mad.{lo,hi}.cc.{u,s}64", "x:xxx",
     TO_LONG("$0 t, $a, $b, $c; ", "addc.u64 u, 0, 0; mov.b64 v, 0; ")},
    {"madc.{lo,hi}.{u,s}64", "x:xxxx",
     TO_LONG("add.cc.u64 t, $c, $e; ", "$0 u, $a, $b, $c; mov.b64 v, 0; ")},
    {"madc.{lo,hi}.cc.{u,s}64", "x:xxxx",
     TO_LONG("add.cc.u64 t, $c, $e; ", "$0 u, $a, $b, $c; addc.u64 v, 0, 0; ")},

    /* bits */
    {"{and,or,xor}.b16", "h:hh", NULL},
    {"{and,or,xor}.b32", "r:rr", NULL},
    {"{and,or,xor}.b64", "x:xx", NULL},
    {"{and,or,xor}.pred", "p:pp", NULL},
    {"{not,cnot}.b16", "h:h", NULL},
    {"{not,cnot}.b32", "r:r", NULL},
    {"{not,cnot}.b64", "x:x", NULL},
    {"{not,mov}.pred", "p:p", NULL},
    {"lop3.b32 {0x01,0x1b,0x80,0x96,0xe8,0xca,0x6f}", "r:rrr", "$0 $d, $a, $b, $c, $1;"},
    {"lop3.{and,or}.b32 {0x96,0xca}", "r:rrrp",
     "{.reg .pred q; $0 $d|q, $a, $b, $c, $2, $e; @q xor.b32 $d, $d, 0x5a5a5a5a;}"},
    {"shl.b16", "h:hs", NULL},
    {"shl.b32", "r:rs", NULL},
    {"shl.b64", "x:xs", NULL},
    {"shr.{b,u,s}16", "h:hs", NULL},
    {"shr.{b,u,s}32", "r:rs", NULL},
    {"shr.{b,u,s}64", "x:xs", NULL},
    {"shf.{l,r}.{wrap,clamp}.b32", "r:rrs", NULL},
    {"prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "r:rrr", NULL},
    {"mov.{b16,u16,s16}", "h:h", NULL},
    {"mov.{b32,u32,s32}", "r:r", NULL},
    {"mov.f32", "f:f", "{.reg .f32 t, u; mov.b32 t, $a; $0 u, t; mov.b32 $d, u;}"},
    {"mov.{b64,u64,s64}", "x:x", NULL},
    {"mov.f64", "g:g", "{.reg .f64 t, u; mov.b64 t, $a; $0 u, t; mov.b64 $d, u;}"},
    {"xor.b32 after a blank", "r:rr", "xor .b32 $d, $a, $b;"},
    {"mov.b16 from two", "h:hh",
     "{.reg .b8 i, j; cvt.u8.u16 i, $a; cvt.u8.u16 j, $b; mov.b16 $d, {i, j};}"},
    {"mov.b16 to two", "h:h",
     "{.reg .b8 i, j; .reg .b16 k; mov.b16 {i, j}, $a; cvt.u16.u8 k, i; cvt.u16.u8 $d, j; shl.b16 "
     "k, "
     "k, 8; or.b16 $d, $d, k;}"},
    {"mov.b32 from two", "r:hh", "mov.b32 $d, {$a, $b};"},
    {"mov.b32 from four", "r:rrrr",
     "{.reg .b8 i, j, k, l; cvt.u8.u32 i, $a; cvt.u8.u32 j, $b; cvt.u8.u32 k, $c; cvt.u8.u32 l, "
     "$e; "
     "mov.b32 $d, {i, j, k, l};}"},
    {"mov.b64 from two", "x:rr", "mov.b64 $d, {$a, $b};"},
    {"mov.b64 from four", "x:hhhh", "mov.b64 $d, {$a, $b, $c, $e};"},
    {"mov.b32 to two", "r:r", "{.reg .b16 i, j; mov.b32 {i, j}, $a; mov.b32 $d, {j, i};}"},
    {"mov.b64 to two", "x:x", "{.reg .b32 i, j; mov.b64 {i, j}, $a; mov.b64 $d, {j, i};}"},
    {"mov.b64 to four", "x:x",
     "{.reg .b16 i, j, k, l; mov.b64 {i, j, k, l}, $a; mov.b64 $d, {l, i, k, j};}"},

    /* comparisons and choices */
    {"setp." INTEGER_COMPARISONS ".s16", "r:hh", SETP},
    {"setp." UNSIGNED_COMPARISONS ".u16", "r:hh", SETP},
    {"setp.{eq,ne}.b16", "r:hh", SETP},
    {"setp." INTEGER_COMPARISONS ".s32", "r:rr", SETP},
    {"setp." UNSIGNED_COMPARISONS ".u32", "r:rr", SETP},
    {"setp.{eq,ne}.b32", "r:rr", SETP},
    {"setp." INTEGER_COMPARISONS ".s64", "r:xx", SETP},
    {"setp." UNSIGNED_COMPARISONS ".u64", "r:xx", SETP},
    {"setp.{eq,ne}.b64", "r:xx", SETP},
    {"setp." FLOAT_COMPARISONS "{,.ftz}.f32", "r:ff", SETP},
    {"setp." FLOAT_COMPARISONS ".f64", "r:gg", SETP},
    {"setp." FLOAT_COMPARISONS "{,.ftz}.f16", "r:HH", SETP_ONE},
    {"setp." FLOAT_COMPARISONS ".bf16", "r:BB", SETP_ONE},
    {"setp." FLOAT_COMPARISONS "{,.ftz}.f16x2", "r:FF", SETP},
    {"setp." FLOAT_COMPARISONS ".bf16x2", "r:GG", SETP},
    {"setp.{lt,ne}.{and,or,xor}.s32", "r:rrp", SETP_BOOL},
    {"setp.{lt,neu}.{and,or,xor}.f32", "r:ffp", SETP_BOOL},
    {"setp.lt.{and,or,xor}.{u,s}64", "r:xxp", SETP_BOOL},
    {"setp.lt.{and,or,xor}{,.ftz}.f16x2", "r:FFp", SETP_BOOL},
    {"set." INTEGER_COMPARISONS ".{u32,s32,f32}.{s16,u16}", "r:hh", NULL},
    {"set." INTEGER_COMPARISONS ".{u32,s32,f32}.{s32,u32}", "r:rr", NULL},
    {"set." INTEGER_COMPARISONS ".{u32,f32}.{s64,u64}", "r:xx", NULL},
    {"set.{lo,ls,hi,hs}.{u32,f32}.u32", "r:rr", NULL},
    {"set.{eq,ne}.{u32,f32}.b32", "r:rr", NULL},
    {"set." FLOAT_COMPARISONS "{,.ftz}.{u32,s32,f32}.f32", "r:ff", NULL},
    {"set." FLOAT_COMPARISONS ".{u32,s32,f32}.f64", "r:gg", NULL},
    {"set.{lt,neu}.{and,or,xor}.{u32,f32}.f32", "r:ffp", "$0 $d, $a, $b, $c;"},
    {"set.{lt,ge}.{and,or,xor}.{u32,f32}.{s32,u32}", "r:rrp", "$0 $d, $a, $b, $c;"},
    {"set.{lt,equ,nan}{,.ftz}.f16.f16", "H:HH", NULL},
    {"set.{lt,equ,nan}{,.ftz}.{u16,s16}.f16", "h:HH", NULL},
    {"set.{lt,equ,nan}{,.ftz}.{u32,s32}.f16", "r:HH", NULL},
    {"set.{lt,equ,nan}.bf16.bf16", "B:BB", NULL},
    {"set.{lt,equ,nan}.{u16,s16}.bf16", "h:BB", NULL},
    {"set.{lt,equ,nan}.{u32,s32}.bf16", "r:BB", NULL},
    {"set.{lt,equ}.f16.f32", "H:ff", NULL},
    {"set.{lt,ge}.f16.{s32,u32}", "H:rr", NULL},
    {"set.{lt,equ}.bf16.f32", "B:ff", NULL},
    {"set." FLOAT_COMPARISONS "{,.ftz}.f16x2.f16x2", "F:FF", NULL},
    {"set." FLOAT_COMPARISONS ".bf16x2.bf16x2", "G:GG", NULL},
    {"set." FLOAT_COMPARISONS "{,.ftz}.{u32,s32}.f16x2", "r:FF", NULL},
    {"set." FLOAT_COMPARISONS ".{u32,s32}.bf16x2", "r:GG", NULL},
    {"selp.{b16,u16,s16}", "h:hhp", NULL},
    {"selp.{b32,u32,s32,f32}", "r:rrp", NULL},
    {"selp.{b64,u64,s64,f64}", "x:xxp", NULL},
    {"slct.{b16,u16,s16}.s32", "h:hhr", NULL},
    {"slct.{b32,u32,s32,f32}.s32", "r:rrr", NULL},
    {"slct.{b64,u64,s64,f64}.s32", "x:xxr", NULL},
    {"slct{,.ftz}.{b32,u32,f32}.f32", "r:rrf", NULL},
    {"slct{,.ftz}.{b64,f64}.f32", "x:xxf", NULL},

    /* floats */
    {"testp.{finite,infinite,number,notanumber,normal,subnormal}.f32", "r:f", TESTP},
    {"testp.{finite,infinite,number,notanumber,normal,subnormal}.f64", "r:g", TESTP},
    {"copysign.f32", "f:ff", NULL},
    {"copysign.f64", "g:gg", NULL},
    {"{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "f:ff", NULL},
    {"{fma,mad}" ROUNDINGS "{,.ftz}{,.sat}.f32", "f:fff", NULL},
    {"{add,sub,mul}{,.rn,.rz,.rm,.rp}.f64", "g:gg", NULL},
    {"{fma,mad}" ROUNDINGS ".f64", "g:ggg", NULL},
    {"div" ROUNDINGS "{,.ftz}.f32", "f:ff", NULL},
    {"div.{approx,full}{,.ftz}.f32", "f:ff", NULL},
    {"div" ROUNDINGS ".f64", "g:gg", NULL},
    {"{rcp,sqrt}" ROUNDINGS "{,.ftz}.f32", "f:f", NULL},
    {"{rcp,sqrt}" ROUNDINGS ".f64", "g:g", NULL},
    {"{abs,neg}{,.ftz}.f32", "f:f", NULL},
    {"{abs,neg}.f64", "g:g", NULL},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32", "f:ff", NULL},
    {"{min,max}.f64", "g:gg", NULL},
    {"{rcp,sqrt,rsqrt,sin,cos,lg2,ex2}.approx{,.ftz}.f32", "f:f", NULL},
    {"tanh.approx.f32", "f:f", NULL},
    {"{rcp,rsqrt}.approx.ftz.f64", "g:g", NULL},
    {"rsqrt.approx.f64", "g:g", NULL},

    /* halves */
    {"{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16", "H:HH", NULL},
    {"{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16x2", "F:FF", NULL},
    {"{add,sub,mul}{,.rn}.bf16", "B:BB", NULL},
    {"{add,sub,mul}{,.rn}.bf16x2", "G:GG", NULL},
    {"fma.rn{,.ftz}{,.sat,.relu}.f16", "H:HHH", NULL},
    {"fma.rn{,.ftz}{,.sat,.relu}.f16x2", "F:FFF", NULL},
    {"fma.rn{,.relu}.bf16", "B:BBB", NULL},
    {"fma.rn{,.relu}.bf16x2", "G:GGG", NULL},
    {"fma.rn.oob{,.relu}.f16", "H:HHH", NULL},
    {"fma.rn.oob{,.relu}.f16x2", "F:FFF", NULL},
    {"fma.rn.oob{,.relu}.bf16", "B:BBB", NULL},
    {"fma.rn.oob{,.relu}.bf16x2", "G:GGG", NULL},
    {"{abs,neg}{,.ftz}.f16", "H:H", NULL},
    {"{abs,neg}{,.ftz}.f16x2", "F:F", NULL},
    {"{abs,neg}.bf16", "B:B", NULL},
    {"{abs,neg}.bf16x2", "G:G", NULL},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16", "H:HH", NULL},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16x2", "F:FF", NULL},
    {"{min,max}{,.NaN}{,.xorsign.abs}.bf16", "B:BB", NULL},
    {"{min,max}{,.NaN}{,.xorsign.abs}.bf16x2", "G:GG", NULL},
    {"{tanh,ex2}.approx.f16", "H:H", NULL},
    {"{tanh,ex2}.approx.f16x2", "F:F", NULL},
    {"tanh.approx.bf16", "B:B", NULL},
    {"tanh.approx.bf16x2", "G:G", NULL},
    {"ex2.approx.ftz.bf16", "B:B", NULL},
    {"ex2.approx.ftz.bf16x2", "G:G", NULL},

    /* conversions of integers */
    {"cvt.{u8,s8,u32,s32}.{u8,s8,u32,s32}", "r:r", NULL},
    {"cvt.{u8,s8,u32,s32}.{u16,s16}", "r:h", NULL},
    {"cvt.{u8,s8,u32,s32}.{u64,s64}", "r:x", NULL},
    {"cvt.{u16,s16}.{u8,s8,u32,s32}", "h:r", NULL},
    {"cvt.{u16,s16}.{u16,s16}", "h:h", NULL},
    {"cvt.{u16,s16}.{u64,s64}", "h:x", NULL},
    {"cvt.{u64,s64}.{u8,s8,u32,s32}", "x:r", NULL},
    {"cvt.{u64,s64}.{u16,s16}", "x:h", NULL},
    {"cvt.{u64,s64}.{u64,s64}", "x:x", NULL},
    {"cvt.sat.{u8.s8,u8.u32,u8.s32,s8.u8,s8.u32,s8.s32,u32.s8,u32.s32,s32.u32}", "r:r", NULL},
    {"cvt.sat.{u8.u16,u8.s16,s8.u16,s8.s16,u32.s16}", "r:h", NULL},
    {"cvt.sat.{u8,s8,u32,s32}.{u64,s64}", "r:x", NULL},
    {"cvt.sat.{u16.u32,u16.s32,s16.u32,s16.s32,u16.s8}", "h:r", NULL},
    {"cvt.sat.{u16.s16,s16.u16}", "h:h", NULL},
    {"cvt.sat.{u16,s16}.{u64,s64}", "h:x", NULL},
    {"cvt.sat.u64.{s8,s32}", "x:r", NULL},
    {"cvt.sat.u64.s16", "x:h", NULL},
    {"cvt.sat.{u64.s64,s64.u64}", "x:x", NULL},
    {"cvt.pack.sat.{u16,s16}.s32", "r:rr", NULL},
    {"cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32", "r:rrr", NULL},

    /* conversions between integers and floats */
    {"cvt" ROUNDINGS "{,.sat}.f32.{u8,s8,u32,s32}", "f:r", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f32.{u16,s16}", "f:h", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f32.{u64,s64}", "f:x", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f64.{u8,s8,u32,s32}", "g:r", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f64.{u16,s16}", "g:h", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f64.{u64,s64}", "g:x", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f16.{u8,s8,u32,s32}", "H:r", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f16.{u16,s16}", "H:h", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f16.{u64,s64}", "H:x", NULL},
    {"cvt" ROUNDINGS ".bf16.{u32,s32}", "B:r", NULL},
    {"cvt" ROUNDINGS ".bf16.{u16,s16}", "B:h", NULL},
    {"cvt" ROUNDINGS ".bf16.{u64,s64}", "B:x", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.{u8,s8,u32,s32}.f32", "r:f", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.{u16,s16}.f32", "h:f", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.{u64,s64}.f32", "x:f", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{u8,s8,u32,s32}.f64", "r:g", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{u16,s16}.f64", "h:g", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{u64,s64}.f64", "x:g", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{u8,s8,u32,s32}.f16", "r:H", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{u16,s16}.f16", "h:H", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{u64,s64}.f16", "x:H", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}.{u32,s32}.bf16", "r:B", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}.{u16,s16}.bf16", "h:B", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}.{u64,s64}.bf16", "x:B", NULL},

    /* conversions of floats */
    {"cvt{,.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32", "f:f", NULL},
    {"cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.f64.f64", "g:g", NULL},
    {"cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.f16.f16", "H:H", NULL},
    {"cvt{,.ftz}{,.sat}.f64.f32", "g:f", NULL},
    {"cvt" ROUNDINGS "{,.ftz}{,.sat}.f32.f64", "f:g", NULL},
    {"cvt{,.ftz}{,.sat}.f32.f16", "f:H", NULL},
    {"cvt{,.sat}.f64.f16", "g:H", NULL},
    {"cvt.f32.bf16", "f:B", NULL},
    {"cvt.f64.bf16", "g:B", NULL},
    {"cvt" ROUNDINGS "{,.ftz}{,.sat}.f16.f32", "H:f", NULL},
    {"cvt{.rn,.rz}.relu.f16.f32", "H:f", NULL},
    {"cvt" ROUNDINGS "{,.sat}.f16.f64", "H:g", NULL},
    {"cvt{.rn,.rz}{,.relu}.bf16.f32", "B:f", NULL},
    {"cvt{.rm,.rp}.bf16.f32", "B:f", NULL},
    {"cvt{.rni,.rzi,.rmi,.rpi}.bf16.bf16", "B:B", NULL},
    {"cvt" ROUNDINGS ".bf16.f64", "B:g", NULL},
    {"cvt{.rn,.rz}{,.relu}.f16x2.f32", "F:ff", NULL},
    {"cvt{.rn,.rz}{,.relu}.bf16x2.f32", "G:ff", NULL},
    {"cvt.rna{,.satfinite}.tf32.f32", "f:f", NULL},
    {"cvt{.rn,.rz}{,.relu}.satfinite.f16.f32", "H:f", NULL},
    {"cvt{.rn,.rz}{,.relu}.satfinite.bf16.f32", "B:f", NULL},
    {"cvt{.rn,.rz}{,.relu}.satfinite.f16x2.f32", "F:ff", NULL},
    {"cvt{.rn,.rz}{,.relu}.satfinite.bf16x2.f32", "G:ff", NULL},
    {"cvt{.rn,.rz}{,.relu}.tf32.f32", "f:f", NULL},
    {"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", "h:ff", NULL},
    {"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", "h:F", NULL},
    {"cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}", "F:h", NULL},

    /* video */
    {"{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat}", "r:rr", NULL},
    {"{vadd,vsub,vabsdiff,vmin,vmax}.s32.{u32,s32}.{u32,s32} halves", "r:rr",
     "$0 $d, $a.h1, $b.b2;"},
    {"{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.s32.u32{,.sat} bytes", "r:rr",
     "$0 $d, $a.b3, $b.h0;"},
    {"{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.s32.s32.sat merged", "r:rrr",
     "$0 $d.b1, $a, $b, $c;"},
    {"{vadd,vsub,vabsdiff,vmin,vmax}.u32.u32.s32.sat merged", "r:rrr", "$0 $d.h1, $a, $b, $c;"},
    {"{vadd,vsub,vabsdiff,vmin,vmax}.s32.u32.s32.sat{.add,.min,.max}", "r:rrr", NULL},
    {"{vshl,vshr}.{u32,s32}.{u32,s32}.u32{.clamp,.wrap}", "r:rs", "$0 $d, $a, $b;"},
    {"{vshl,vshr}.{u32,s32}.u32.u32.sat{.clamp,.wrap}", "r:rs", "$0 $d, $a, $b;"},
    {"{vshl,vshr}.u32.u32.u32{.clamp,.wrap}{.add,.min,.max}", "r:rsr", NULL},
    {"vmad.s32.{u32,s32}.{u32,s32}{,.sat}{,.shr7,.shr15}", "r:rrr", NULL},
    {"vmad.u32.u32.u32{,.sat}{,.shr7,.shr15}", "r:rrr", NULL},
    {"vmad.u32.u32.u32.po", "r:rrr", NULL},
    {"vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}", "r:rr", NULL},
    {"vset.s32.s32.{lt,ge}{.add,.min,.max}", "r:rrr", NULL},
    {"{vadd2,vsub2,vavrg2,vabsdiff2,vmin2,vmax2,vadd4,vsub4,vavrg4,vabsdiff4,vmin4,vmax4}"
     ".{u32,s32}.{u32,s32}.{u32,s32}{,.sat}",
     "r:rrr", NULL},
    {"{vadd2,vsub2,vavrg2,vabsdiff2,vmin2,vmax2,vadd4,vsub4,vavrg4,vabsdiff4,vmin4,vmax4}"
     ".s32.{u32,s32}.{u32,s32}.add",
     "r:rrr", NULL},
    {"vset{2,4}.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}", "r:rrr", NULL},
    {"vset{2,4}.{u32,s32}.{u32,s32}.lt.add", "r:rrr", NULL},

    /* exchanges in a warp */
    {"shfl.sync.{up,down,bfly,idx}.b32", "r:rss",
     "{.reg .pred q; $0 $d|q, $a, $b, $c, -1; @q xor.b32 $d, $d, 0x5a5a5a5a;}"},
    {"vote.sync.ballot.b32", "r:p", "$0 $d, $a, -1;"},
    {"vote.sync.{all,any,uni}.pred", "p:p", "$0 $d, $a, -1;"},
    {"match.any.sync.b32", "r:s", "$0 $d, $a, -1;"},
    {"match.all.sync.b32", "r:s", "{.reg .pred q; $0 $d|q, $a, -1; @q add.u32 $d, $d, 1;}"},
    {"redux.sync.{add,min,max}.{u,s}32", "r:r", "$0 $d, $a, -1;"},
    {"redux.sync.{and,or,xor}.b32", "r:r", "$0 $d, $a, -1;"},

    /* memory */
    {"atom.global.{add.u32,add.s32,min.u32,min.s32,max.u32,max.s32,and.b32,or.b32,xor.b32,exch.b32,"
     "inc.u32,dec.u32}",
     "r:rr", ATOMIC(".global", "$m", "32")},
    {"atom.global.{add.u64,min.u64,min.s64,max.u64,max.s64,and.b64,or.b64,xor.b64,exch.b64}",
     "x:xx", ATOMIC(".global", "$m", "64")},
    {"atom.shared.{add.u32,add.s32,min.u32,min.s32,max.u32,max.s32,and.b32,or.b32,xor.b32,exch.b32,"
     "inc.u32,dec.u32}",
     "r:rr", ATOMIC(".shared", "$s", "32")},
    {"red.global.{add.u32,min.s32,max.u32,and.b32,or.b32,xor.b32,inc.u32,dec.u32}", "r:rr",
     REDUCTION(".global", "$m", "32")},
    {"atom.global.cas.b32", "r:rrr", SWAP(".global", "$m", "32")},
    {"atom.global.cas.b64", "x:xxx", SWAP(".global", "$m", "64")},
    {"atom.global.add.f32", "f:ff", ATOMIC_FLOAT(".global", "$m", "32")},
    {"atom.shared.add.f32", "f:ff", ATOMIC_FLOAT(".shared", "$s", "32")},
    {"red.global.add.f32", "f:ff", REDUCTION(".global", "$m", "32")},
    {"red.shared.add.f32", "f:ff", REDUCTION(".shared", "$s", "32")},
    {"atom.global.add.f64", "g:gg", ATOMIC_FLOAT(".global", "$m", "64")},
    {"atom.shared.add.f64", "g:gg", ATOMIC_FLOAT(".shared", "$s", "64")},
    {"red.global.add.f64", "g:gg", REDUCTION(".global", "$m", "64")},
    {"atom.global.add.noftz.f16", "H:HH", ATOMIC_FLOAT(".global", "$m", "16")},
    {"atom.global.add.noftz.bf16", "B:BB", ATOMIC_FLOAT(".global", "$m", "16")},
    {"atom.global.add.noftz.f16x2", "F:FF", ATOMIC_FLOAT(".global", "$m", "32")},
    {"atom.global.add.noftz.bf16x2", "G:GG", ATOMIC_FLOAT(".global", "$m", "32")},
    {"red.global.add.noftz.f16x2", "F:FF", REDUCTION(".global", "$m", "32")},
    {"red.global.add.noftz.bf16x2", "G:GG", REDUCTION(".global", "$m", "32")},
    {"ld.global.{u8,s8}", "r:r", "st.global.b32 [$m], $a; $0 $d, [$m+1];"},
    {"ld.global.{u16,s16}", "r:r", "st.global.b32 [$m], $a; $0 $d, [$m+2];"},
    {"ld.global.{u32,s32}", "x:r", "st.global.b32 [$m], $a; $0 $d, [$m];"},
    {"ld.shared.{u8,s8}", "x:r", "st.shared.b32 [$s], $a; $0 $d, [$s+3];"},
    {"st.global.{u8,b16}", "r:rr",
     "st.global.b32 [$m], $a; $0 [$m+2], $b; ld.global.b32 $d, [$m];"},

    /* 128 bits */
    {"mov.b128", "x:xx", WIDE "mov.b128 q, {$a, $b}; $0 u, q; " FOLD("u") "}"},
    {"ld{,.relaxed.gpu,.acquire.gpu,.volatile}.global.b128", "x:xx",
     WIDE IN_GLOBAL "st.global.v2.b64 [w], {$a, $b}; $0 u, [w]; " FOLD("u") "}"},
    {"st{,.relaxed.gpu,.release.gpu,.volatile}.global.b128", "x:xx",
     WIDE IN_GLOBAL "mov.b128 q, {$a, $b}; $0 [w], q; ld.global.v2.b64 {s, t}, [w]; "
                    "mad.lo.u64 $d, t, 3, s;}"},
    {"ld.shared.b128", "x:xx",
     WIDE IN_SHARED "st.shared.v2.b64 [w], {$a, $b}; $0 u, [w]; " FOLD("u") "}"},
    {"atom.global.exch.b128", "x:xxxx", WIDE_EXCHANGE(".global", IN_GLOBAL)},
    {"atom.shared.exch.b128", "x:xxxx", WIDE_EXCHANGE(".shared", IN_SHARED)},
    {"atom{,.acq_rel.gpu}.global.cas.b128", "x:xxx", WIDE_SWAP(".global", IN_GLOBAL)},
    {"atom.shared.cas.b128", "x:xxx", WIDE_SWAP(".shared", IN_SHARED)},
};

const char form_module_header[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 words[4096];\n"
    ".global .align 16 .b8 wides[65536];\n";

unsigned form_kind_bytes(char kind)
{
    switch (kind) {
    case 'h':
    case 'H':
    case 'B':
        return 2;
    case 'x':
    case 'g':
        return 8;
    case 'p':
        return 0;
    default:
        return 4;
    }
}

/* Replaces each `name` in a text by `value`. */
static void substitute(char *text, size_t size, const char *name, const char *value)
{
    for (char *at = strstr(text, name); at; at = strstr(at, name)) {
        size_t rest = strlen(at + strlen(name)) + 1, length = strlen(value);
        if ((size_t)(at - text) + length + rest > size)
            abort();
        memmove(at + length, at + strlen(name), rest);
        memcpy(at, value, length);
        at += length;
    }
}

enum { ALTERNATIVES = 9, ALTERNATIVE_BYTES = 16 };

typedef struct listing {
    form *forms;
    size_t count, room;
} listing;

static void add(listing *l, const row *r, const char *name, char (*chosen)[ALTERNATIVE_BYTES],
                int chosen_count)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        l->forms = realloc(l->forms, l->room * sizeof *l->forms);
        if (!l->forms)
            abort();
    }
    form *f = &l->forms[l->count++];
    *f = (form){.result = r->kinds[0]};
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->sources, sizeof f->sources, "%s", r->kinds + 2);
    static const char *const letters[] = {", $a", ", $b", ", $c", ", $e"};
    if (r->body) {
        snprintf(f->body, sizeof f->body, "%s", r->body);
    } else {
        size_t n = (size_t)snprintf(f->body, sizeof f->body, "$0 $d");
        for (size_t i = 0; i < strlen(f->sources); i++)
            n += (size_t)snprintf(f->body + n, sizeof f->body - n, "%s", letters[i]);
        snprintf(f->body + n, sizeof f->body - n, ";");
    }
    char opcode[FORM_NAME_BYTES];
    snprintf(opcode, sizeof opcode, "%.*s", (int)strcspn(name, " "), name);
    substitute(f->body, sizeof f->body, "$0", opcode);
    for (int i = 0; i < chosen_count; i++) {
        const char number[] = {'$', (char)('1' + i), '\0'};
        substitute(f->body, sizeof f->body, number, chosen[i]);
    }
}

static void expand(listing *l, const row *r, const char *name, char (*chosen)[ALTERNATIVE_BYTES],
                   int chosen_count)
{
    const char *open = strchr(name, '{');
    if (!open) {
        add(l, r, name, chosen, chosen_count);
        return;
    }
    const char *close = strchr(open, '}');
    for (const char *at = open; at < close;) {
        int length = (int)strcspn(at + 1, ",}");
        char text[1024];
        snprintf(text, sizeof text, "%.*s%.*s%s", (int)(open - name), name, length, at + 1,
                 close + 1);
        snprintf(chosen[chosen_count], ALTERNATIVE_BYTES, "%.*s", length, at + 1);
        expand(l, r, text, chosen, chosen_count + 1);
        at += length + 1;
    }
}

size_t forms_list(form **out)
{
    listing l = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char chosen[ALTERNATIVES][ALTERNATIVE_BYTES];
        expand(&l, &rows[i], rows[i].names, chosen, 0);
    }
    *out = l.forms;
    return l.count;
}

void form_body(const form *f, const char *result, const char *const sources[FORM_SOURCES],
               char *text, size_t size)
{
    static const char *const letters[] = {"$a", "$b", "$c", "$e"};
    snprintf(text, size, "%s", f->body);
    substitute(text, size, "$d", result);
    for (size_t i = 0; f->sources[i]; i++)
        substitute(text, size, letters[i], sources[i]);
    substitute(text, size, "$m", "%m");
    substitute(text, size, "$s", "%s");
}

static const char kernel_start[] =
    ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
    ".reg .b16 %%h<5>; .reg .b32 %%r<5>; .reg .b64 %%x<5>; .reg .pred %%p<5>, %%end;\n"
    ".reg .b32 %%i, %%n, %%t, %%u; .reg .b64 %%m, %%s, %%o, %%a, %%w, %%v;\n"
    "ld.param.u64 %%a, [in]; ld.param.u64 %%o, [out]; ld.param.u32 %%n, [n];\n"
    "mov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%ntid.x; mul.lo.u32 %%i, %%t, %%u; mov.u32 %%t, "
    "%%tid.x;\n"
    "add.u32 %%i, %%i, %%t; setp.ge.u32 %%end, %%i, %%n; @%%end bra END;\n"
    "mul.wide.u32 %%s, %%t, 8; mov.u64 %%w, words; add.u64 %%s, %%s, %%w;\n"
    "mul.wide.u32 %%w, %%i, 8; add.u64 %%a, %%a, %%w; add.u64 %%o, %%o, %%w;\n"
    "mul.wide.u32 %%w, %%n, 8; add.u64 %%m, %%o, %%w;\n";

/* Writes the name of a register of a kind. */
static void register_name(char kind, int number, char *text, size_t size)
{
    unsigned bytes = form_kind_bytes(kind);
    snprintf(text, size, "%%%c%d",
             bytes == 2   ? 'h'
             : bytes == 8 ? 'x'
             : bytes == 0 ? 'p'
                          : 'r',
             number);
}

void form_kernel(const form *f, const char *entry, char *text, size_t size)
{
    char names[FORM_SOURCES + 1][16], body[FORM_BODY_BYTES * 2];
    const char *sources[FORM_SOURCES];
    size_t n = (size_t)snprintf(text, size, kernel_start, entry);
    register_name(f->result, 0, names[0], sizeof names[0]);
    for (int i = 0; f->sources[i]; i++) {
        register_name(f->sources[i], i + 1, names[i + 1], sizeof names[i + 1]);
        sources[i] = names[i + 1];
        unsigned bytes = form_kind_bytes(f->sources[i]);
        if (bytes)
            n += (size_t)snprintf(text + n, size - n, "ld.global.b%u %s, [%%a]; ", 8 * bytes,
                                  sources[i]);
        else
            n += (size_t)snprintf(text + n, size - n,
                                  "ld.global.b32 %%t, [%%a]; setp.ne.b32 %s, %%t, 0; ", sources[i]);
        n += (size_t)snprintf(text + n, size - n, "add.u64 %%a, %%a, %%w;\n");
    }
    form_body(f, names[0], sources, body, sizeof body);
    static const char *const widen[] = {[0] = "selp.b64 %%v, 1, 0, %s;",
                                        [2] = "cvt.u64.u16 %%v, %s;",
                                        [4] = "cvt.u64.u32 %%v, %s;",
                                        [8] = "mov.b64 %%v, %s;"};
    n += (size_t)snprintf(text + n, size - n, "%s\n", body);
    n += (size_t)snprintf(text + n, size - n, widen[form_kind_bytes(f->result)], names[0]);
    snprintf(text + n, size - n, "\nst.global.b64 [%%o], %%v;\nEND: ret;\n}\n");
}
