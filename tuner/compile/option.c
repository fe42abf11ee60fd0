#include "compile/option.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_number(const char *v)
{
    size_t n = strspn(v, "0123456789");
    return n > 0 && n < 10 && v[n] == '\0';
}

/* Accepts NAME, NAME=text and NAME(parameters)=text of printable characters. */
static bool is_definition(const char *v)
{
    if (!isalpha((unsigned char)*v) && *v != '_')
        return false;
    for (const char *c = v; *c; c++)
        if (!isprint((unsigned char)*c))
            return false;
    /* Refuses __has_include and __has_embed, which look for files. */
    return strstr(v, "__has_") == NULL;
}

static bool is_identifier(const char *v)
{
    return is_definition(v) && v[strspn(v, "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

static bool is_file_name(const char *v)
{
    return isalpha((unsigned char)*v) &&
           v[strspn(v, "0123456789_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] == '\0';
}

static bool is_diagnostics(const char *v)
{
    return *v && v[strspn(v, "0123456789,")] == '\0';
}

static const char *const booleans[] = {"true", "false", NULL};
static const char *const on[] = {"on", NULL};
static const char *const standards[] = {"c++11", "c++14", "c++17", "c++20", NULL};

static const char *const ptxas_options[] = {"-dlcm=ca",
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
                                            NULL};

/* An option has a value if its name ends in '=' or is "-D" or "-U". `values` lists the valid
 * values, or `accepts` decides. With `either`, the name may also have two dashes. */
static const struct {
    const char *name;
    bool either;
    const char *const *values;
    bool (*accepts)(const char *);
} allowed[] = {
    {"-use_fast_math", true, NULL, NULL},
    {"-fmad=", true, booleans, NULL},
    {"-ftz=", true, booleans, NULL},
    {"-prec-div=", true, booleans, NULL},
    {"-prec-sqrt=", true, booleans, NULL},
    {"-maxrregcount=", true, NULL, is_number},
    {"-extra-device-vectorization", true, NULL, NULL},
    {"-restrict", true, NULL, NULL},
    {"-minimal", true, NULL, NULL},
    {"-dopt=", true, on, NULL},
    {"-std=", true, standards, NULL},
    {"--device-as-default-execution-space", false, NULL, NULL},
    {"-default-device", false, NULL, NULL},
    {"--generate-line-info", false, NULL, NULL},
    {"-lineinfo", false, NULL, NULL},
    {"-diag-suppress=", true, NULL, is_diagnostics},
    {"--disable-warnings", false, NULL, NULL},
    {"-w", false, NULL, NULL},
    {"--define-macro=", false, NULL, is_definition},
    {"-D", false, NULL, is_definition},
    {"--pre-include=", false, NULL, is_file_name},
    {"--undefine-macro=", false, NULL, is_identifier},
    {"-U", false, NULL, is_identifier},
    {"--ptxas-options=", false, ptxas_options, NULL},
};

static bool is_allowed(const char *option)
{
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        size_t n = strlen(allowed[i].name);
        const char *given = option + (allowed[i].either && strncmp(option, "--", 2) == 0);
        if (strncmp(given, allowed[i].name, n) != 0)
            continue;
        for (const char *const *v = allowed[i].values; v && *v; v++)
            if (strcmp(given + n, *v) == 0)
                return true;
        if (allowed[i].values)
            continue;
        if (allowed[i].accepts ? allowed[i].accepts(given + n) : given[n] == '\0')
            return true;
    }
    return false;
}

/* Options with the same meaning: their names without dashes, then NULL. In scripts, a value may
 * follow a name after '=' or a blank. */
typedef struct nvcc_options {
    const char *meaning;
    const char *names[10];
} nvcc_options;

/* `meaning` is the option of NVRTC, or "" for options that do not affect device code. */
static const nvcc_options translated[] = {
    {"", {"O", "O0", "O1", "O2", "O3", "optimize", "g", "debug"}},
    {"", {"m64", "machine", "c", "compile", "shared", "cudart", "threads", "t"}},
    {"",
     {"Xcompiler", "compiler-options", "Xlinker", "linker-options", "ccbin", "compiler-bindir"}},
    {"", {"extended-lambda", "expt-extended-lambda", "source-in-ptx", "src-in-ptx"}},
    {"", {"Wno-deprecated-gpu-targets", "Werror", "Wreorder", "keep", "verbose", "v"}},
    {"", {"resource-usage", "res-usage", "ptxas-options=-v", "Xptxas=-v"}},
    {"--device-as-default-execution-space", {"expt-relaxed-constexpr"}},
    {"--ptxas-options", {"Xptxas", "ptxas-options"}},
    {"--std", {"std"}},
    {"--define-macro", {"define-macro", "D"}},
    {"--undefine-macro", {"undefine-macro", "U"}},
    {"--maxrregcount", {"maxrregcount"}},
    {"--fmad", {"fmad"}},
    {"--ftz", {"ftz"}},
    {"--prec-div", {"prec-div"}},
    {"--prec-sqrt", {"prec-sqrt"}},
    {"--diag-suppress", {"diag-suppress", "Xcudafe=--diag_suppress"}},
};

static const char architecture[] = "code is compiled for the current device: select another one by "
                                   "--device, or by --arch if there is no device";
static const char folders[] =
    "name folders of headers below the script's folder by kernel = { include = { \"DIR\" } }, or "
    "any folder by -I DIR on the command line";
static const char whole[] =
    "a kernel is compiled as a whole: all that it calls must be in its source or its headers";
static const char debugging[] = "the measured code must be the code that runs without this option";
static const char outputs[] = "the tuner decides what is compiled from a source";
static const nvcc_options refused[] = {
    {architecture, {"arch", "gpu-architecture", "gencode", "generate-code", "code", "gpu-code"}},
    {folders, {"I", "include-path", "isystem", "system-include"}},
    {"write #include at the top of the source", {"include", "pre-include"}},
    {whole, {"rdc", "relocatable-device-code", "dc", "device-c", "dlto", "dlink-time-opt"}},
    {debugging, {"G", "device-debug"}},
    {outputs, {"o", "output-file", "ptx", "cubin", "fatbin"}},
};

/* Returns the value of an option: after its name and '=' or a blank, or directly after a name of
 * one letter. Returns NULL for another option. */
static const char *value_of(const char *given, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(given, name, n) != 0)
        return NULL;
    if (given[n] == '\0')
        return given + n;
    if (given[n] == '=' || given[n] == ' ')
        return given + n + 1;
    return n == 1 && strchr("IDU", name[0]) ? given + n : NULL;
}

static const char *find_option(const nvcc_options *list, size_t count, const char *given,
                               const char **value)
{
    for (size_t i = 0; i < count; i++)
        for (const char *const *name = list[i].names; *name; name++)
            if ((*value = value_of(given, *name)) != NULL)
                return list[i].meaning;
    return NULL;
}

/* Returns the second option in the text, or NULL. A blank and a dash start an option, except within
 * quotes and after an option whose value is an option of another program. */
static const char *find_second(const char *option)
{
    static const char *const forwarding[] = {"Xptxas",           "ptxas-options", "Xcompiler",
                                             "compiler-options", "Xlinker",       "linker-options",
                                             "Xcudafe"};
    const char *name = option + strspn(option, "-");
    bool forwards = false;
    for (size_t i = 0; i < sizeof forwarding / sizeof *forwarding; i++) {
        const size_t n = strlen(forwarding[i]);
        forwards =
            forwards || (strncmp(name, forwarding[i], n) == 0 && isspace((unsigned char)name[n]));
    }
    char quote = '\0';
    for (const char *c = option; *c; c++) {
        if (quote ? *c == quote : *c == '"' || *c == '\'')
            quote = quote ? '\0' : *c;
        if (quote || !isspace((unsigned char)c[0]) || c[1] != '-' ||
            (!isalpha((unsigned char)c[2]) && c[2] != '-'))
            continue;
        if (!forwards)
            return c + 1;
        forwards = false;
    }
    return NULL;
}

at_status compile_option_read(const char *option, char out[COMPILE_OPTION_BYTES], at_error *error)
{
    char given[COMPILE_OPTION_BYTES];
    const char *value, *why, *name;
    if (strlen(option) >= COMPILE_OPTION_BYTES - sizeof "--undefine-macro=")
        return error_set(error, AT_SCRIPT,
                         "a compiler option is longer than %d bytes, the limit: %.60s ...",
                         COMPILE_OPTION_BYTES, option);
    const char *second = find_second(option);
    if (second)
        return error_set(error, AT_SCRIPT,
                         "the text '%s' contains two compiler options: write a list, options = { "
                         "\"%.*s\", \"%s\" }",
                         option, (int)(second - option) - 1, option, second);
    strcpy(out, option);
    if (is_allowed(option))
        return AT_OK;
    size_t dashes = strspn(option, "-");
    snprintf(given, sizeof given, "%s", dashes > 0 && dashes < 3 ? option + dashes : "");
    /* "-Xptxas -v" means "-Xptxas=-v". */
    char *blank = strchr(given, ' ');
    if (blank && !memchr(given, '=', (size_t)(blank - given)))
        *blank = '=';
    name = find_option(translated, sizeof translated / sizeof *translated, given, &value);
    if (name && name[0] == '\0') {
        out[0] = '\0';
        return AT_OK;
    }
    if (name) {
        snprintf(out, COMPILE_OPTION_BYTES, "%s%s%s", name, *value ? "=" : "", value);
        if (is_allowed(out))
            return AT_OK;
    }
    why = find_option(refused, sizeof refused / sizeof *refused, given, &value);
    return error_set(
        error, AT_SCRIPT, "the compiler option '%s' is not allowed in a script: %s", option,
        why ? why
            : "options that change code generation (--use_fast_math, --maxrregcount=64, "
              "-std=c++20, -Xptxas -dlcm=cg) and macro definitions (-DNAME=VALUE) are allowed");
}
