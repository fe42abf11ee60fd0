#include "export/identifier.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "export/reserved_names.h"

/* Of C23 and C++20, and types that an exported file names. */
static const char keywords[] =
    " "
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
    "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum errno explicit export extern false float for friend goto "
    "i386 if inline int linux long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename typeof union unix "
    "unsigned using virtual void volatile wchar_t while xor xor_eq "
    "imaginary int64_t offsetof size_t strdupa strndupa typeof_unqual ";

/* Macros that come in families, some of which grow with each release (fnmatch). */
static const char *const families[] = {
    "M_1_PI*",   "M_2_PI*",      "M_2_SQRTPI*", "M_E",       "M_E[fl]*",     "M_LN*",
    "M_LOG*",    "M_PI*",        "M_SQRT*",     "HUGE_VAL*", "SNAN*",        "DBL_*",
    "FLT_*",     "LDBL_*",       "FE_*",        "LC_*",      "PRI[diouxX]*", "SCN[dioux]*",
    "SIG_*",     "SIGEV_*",      "SI_*",        "si_*",      "SEGV_*",       "ILL_*",
    "FPE_*",     "SYS_*",        "MPI_*",       "MPIO_*",    "OMPI_*",       "OPAL_*",
    "PTHREAD_*", "STATX_*",      "CLONE_*",     "MADV_*",    "AF_*",         "PF_*",
    "IP_*",      "IPV6_*",       "IPPROTO_*",   "INADDR_*",  "SOL_*",        "SCM_*",
    "MCAST_*",   "RTLD_*",       "ADJ_*",       "FALLOC_*",  "POSIX_*",      "SIOC*",
    "TIOC*",     "TCSET*",       "TCGET*",      "cu[A-Z]*",  "cuda[A-Z]*",   "cublas[A-Z]*",
    "CUDART_*",  "CUBLAS_*",     "CUFFT_*",     "CURAND_*",  "CUSPARSE_*",   "THRUST_*",
    "CCCL_*",    "LIBCUDACXX_*", "NV_*",        "NVML_*",    "NVTX_*",       "NVTX3_*"};

/* As the macros of <stdint.h> and <limits.h> are called: INT32_MAX, UINT8_C, CHAR_BIT. */
static bool is_like_a_limit(const char *identifier)
{
    static const char *const ends[] = {"_MAX", "_MIN", "_WIDTH", "_C", "_BIT"};
    if (strpbrk(identifier, "abcdefghijklmnopqrstuvwxyz"))
        return false;
    const char *last = strrchr(identifier, '_');
    for (size_t i = 0; last && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(last, ends[i]) == 0)
            return true;
    return false;
}

static bool is_reserved(const char *identifier)
{
    if (is_like_a_limit(identifier))
        return true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (fnmatch(families[i], identifier, 0) == 0)
            return true;
    char word[RECORD_NAME_BYTES + 2];
    snprintf(word, sizeof word, " %s ", identifier);
    for (size_t i = 0; i < sizeof reserved_names / sizeof *reserved_names; i++)
        if (strstr(reserved_names[i], word))
            return true;
    return strstr(keywords, word) != NULL;
}

static bool column_taken(const export_model *m, const char *identifier, const export_column *but)
{
    for (size_t i = 0; i < m->column_count; i++)
        if (&m->columns[i] != but && strcmp(m->columns[i].identifier, identifier) == 0)
            return true;
    return false;
}

/* Names that start with an underscore may be macros of the compiler (__LINE__); those that start as
 * the header's own do may be one of them. */
static bool needs_prefix(const char *name)
{
    return name[0] == '_' || strncasecmp(name, "autotune", 8) == 0;
}

enum { STEM_BYTES = EXPORT_IDENTIFIER_BYTES - 8 };

static void make_stem(const char *name, char stem[STEM_BYTES])
{
    snprintf(stem, STEM_BYTES, "%s%s%s", needs_prefix(name) ? "p" : "", name,
             is_reserved(name) ? "_" : "");
}

static bool buffer_taken(const export_launch *l, const char *identifier)
{
    for (size_t i = 0; i < l->buffer_count; i++)
        if (strcmp(l->buffers[i], identifier) == 0)
            return true;
    return false;
}

void export_launch_add_buffer(export_launch *l, const char *name, bool is_input)
{
    char stem[STEM_BYTES];
    char *identifier = l->buffers[l->buffer_count];
    make_stem(name, stem);
    snprintf(identifier, EXPORT_IDENTIFIER_BYTES, "%s", stem);
    for (unsigned n = 2; buffer_taken(l, identifier); n++)
        snprintf(identifier, EXPORT_IDENTIFIER_BYTES, "%s_%u", stem, n);
    l->is_input[l->buffer_count++] = is_input;
}

void export_name_column(export_model *m, export_column *c)
{
    char stem[STEM_BYTES];
    make_stem(c->name, stem);
    snprintf(c->identifier, sizeof c->identifier, "%s", stem);
    for (unsigned n = 2; column_taken(m, c->identifier, c); n++)
        snprintf(c->identifier, sizeof c->identifier, "%s_%u", stem, n);
}

enum { CONSTANT_BYTES = 2 * EXPORT_IDENTIFIER_BYTES };

/* What tells a word's constant from those of other columns and words. */
static void constant_of(const export_column *c, const char *word, char out[CONSTANT_BYTES])
{
    snprintf(out, CONSTANT_BYTES, "%s_%s", c->identifier, word);
    for (char *t = out; *t; t++)
        *t = (char)toupper((unsigned char)*t);
}

static bool column_has_constant(const export_column *c, const char *constant,
                                const export_word *but)
{
    char other[CONSTANT_BYTES];
    for (size_t i = 0; i < c->word_count; i++) {
        constant_of(c, c->words[i].identifier, other);
        if (&c->words[i] != but && strcmp(other, constant) == 0)
            return true;
    }
    return false;
}

/* "a-b" and "a_b" would be the same word, and so would be b_c's "d" and b's "c_d", or Tile's and
 * tile's "x". */
static bool word_taken(const export_model *m, const export_column *c, const char *identifier,
                       const export_word *but)
{
    char constant[CONSTANT_BYTES];
    constant_of(c, identifier, constant);
    for (size_t i = 0; i < m->column_count; i++)
        if (column_has_constant(&m->columns[i], constant, but))
            return true;
    return false;
}

void export_name_word(const export_model *m, export_column *c, export_word *w)
{
    char stem[EXPORT_IDENTIFIER_BYTES - 8];
    size_t n = 0;
    for (const char *t = w->text; *t && n + 1 < sizeof stem; t++)
        stem[n++] = (char)(isalnum((unsigned char)*t) && (unsigned char)*t < 0x80
                               ? toupper((unsigned char)*t)
                               : '_');
    stem[n] = '\0';
    if (n == 0)
        strcpy(stem, "EMPTY");
    snprintf(w->identifier, sizeof w->identifier, "%s", stem);
    for (unsigned i = 2; word_taken(m, c, w->identifier, w); i++)
        snprintf(w->identifier, sizeof w->identifier, "%s_%u", stem, i);
}
