#include "compile/option.h"

#include <ctype.h>
#include <string.h>

static bool is_one_of(const char *v, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(v, known[i]) == 0)
            return true;
    return false;
}

static bool is_number(const char *v)
{
    size_t n = strspn(v, "0123456789");
    return n > 0 && n < 10 && v[n] == '\0';
}

static bool is_boolean(const char *v)
{
    return strcmp(v, "true") == 0 || strcmp(v, "false") == 0;
}

static bool is_on(const char *v)
{
    return strcmp(v, "on") == 0;
}

static bool is_standard(const char *v)
{
    static const char *const known[] = {"c++11", "c++14", "c++17", "c++20"};
    return is_one_of(v, known, sizeof known / sizeof known[0]);
}

/* NAME, NAME=text or NAME(parameters)=text, printable. */
static bool is_definition(const char *v)
{
    if (!isalpha((unsigned char)*v) && *v != '_')
        return false;
    for (const char *c = v; *c; c++)
        if (!isprint((unsigned char)*c))
            return false;
    /* __has_include and __has_embed ask for files. */
    return strstr(v, "__has_") == NULL;
}

static bool is_identifier(const char *v)
{
    return is_definition(v) && v[strspn(v, "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

/* Cache modifiers of loads and stores, and how hard to optimise. */
static bool is_ptxas_option(const char *v)
{
    static const char *const known[] = {
        "-dlcm=ca",
        "-dlcm=cg",
        "-dlcm=cs",
        "-dlcm=cv",
        "-dscm=wb",
        "-dscm=cg",
        "-dscm=cs",
        "-dscm=wt",
        "-O0",
        "-O1",
        "-O2",
        "-O3",
        "--allow-expensive-optimizations=true",
        "--allow-expensive-optimizations=false",
    };
    return is_one_of(v, known, sizeof known / sizeof known[0]);
}

/* `value` NULL: the option stands alone. A name that ends in '=' or is "-D" is followed by the
 * value. */
static const struct {
    const char *name;
    bool (*value)(const char *);
} allowed[] = {
    {"--use_fast_math", NULL},
    {"-use_fast_math", NULL},
    {"--fmad=", is_boolean},
    {"-fmad=", is_boolean},
    {"--ftz=", is_boolean},
    {"-ftz=", is_boolean},
    {"--prec-div=", is_boolean},
    {"-prec-div=", is_boolean},
    {"--prec-sqrt=", is_boolean},
    {"-prec-sqrt=", is_boolean},
    {"--maxrregcount=", is_number},
    {"-maxrregcount=", is_number},
    {"--extra-device-vectorization", NULL},
    {"-extra-device-vectorization", NULL},
    {"--restrict", NULL},
    {"-restrict", NULL},
    {"--device-as-default-execution-space", NULL},
    {"-default-device", NULL},
    {"--generate-line-info", NULL},
    {"-lineinfo", NULL},
    {"--minimal", NULL},
    {"-minimal", NULL},
    {"--disable-warnings", NULL},
    {"-w", NULL},
    {"--dopt=", is_on},
    {"-dopt=", is_on},
    {"--std=", is_standard},
    {"-std=", is_standard},
    {"--define-macro=", is_definition},
    {"-D", is_definition},
    {"--undefine-macro=", is_identifier},
    {"-U", is_identifier},
    {"--ptxas-options=", is_ptxas_option},
};

bool compile_option_allowed(const char *option)
{
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        size_t n = strlen(allowed[i].name);
        if (strncmp(option, allowed[i].name, n) != 0)
            continue;
        if (allowed[i].value ? allowed[i].value(option + n) : option[n] == '\0')
            return true;
    }
    return false;
}
