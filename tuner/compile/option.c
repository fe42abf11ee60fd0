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

/* A file that the request brings, or the Toolkit. */
static bool is_file_name(const char *v)
{
    return isalpha((unsigned char)*v) &&
           v[strspn(v, "0123456789_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] == '\0';
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
 * value. `either`: two dashes will do as well as one. */
static const struct {
    const char *name;
    bool (*value)(const char *);
    bool either;
} allowed[] = {
    {"-use_fast_math", NULL, true},
    {"-fmad=", is_boolean, true},
    {"-ftz=", is_boolean, true},
    {"-prec-div=", is_boolean, true},
    {"-prec-sqrt=", is_boolean, true},
    {"-maxrregcount=", is_number, true},
    {"-extra-device-vectorization", NULL, true},
    {"-restrict", NULL, true},
    {"-minimal", NULL, true},
    {"-dopt=", is_on, true},
    {"-std=", is_standard, true},
    {"--device-as-default-execution-space", NULL, false},
    {"-default-device", NULL, false},
    {"--generate-line-info", NULL, false},
    {"-lineinfo", NULL, false},
    {"--disable-warnings", NULL, false},
    {"-w", NULL, false},
    {"--define-macro=", is_definition, false},
    {"-D", is_definition, false},
    {"--pre-include=", is_file_name, false},
    {"--undefine-macro=", is_identifier, false},
    {"-U", is_identifier, false},
    {"--ptxas-options=", is_ptxas_option, false},
};

bool compile_option_allowed(const char *option)
{
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        size_t n = strlen(allowed[i].name);
        const char *given = option + (allowed[i].either && strncmp(option, "--", 2) == 0);
        if (strncmp(given, allowed[i].name, n) != 0)
            continue;
        if (allowed[i].value ? allowed[i].value(given + n) : given[n] == '\0')
            return true;
    }
    return false;
}
