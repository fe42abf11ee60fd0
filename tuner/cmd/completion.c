/* autotune completion: shell completions and manual pages, made from the tables of commands and
 * options. The completions call 'autotune completion words KIND [SCRIPT]' for words that depend on
 * the machine or on a script. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "bench/client.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "device/arch.h"
#include "record/folders.h"
#include "run/setup/setup.h"
#include "search/strategy.h"
#include "sim/chip.h"

enum { MOST_DEVICES = 64, VALUE_BYTES = 256 };

static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_.+-:";
    return *text && text[strspn(text, plain)] == '\0';
}

/* Returns whether `name` is the name of a GPU's folder. */
static bool is_slug(const char *name)
{
    char slug[PATHS_SLUG_BYTES];
    paths_slug(name, slug);
    return strcmp(slug, name) == 0;
}

/* Prints the names in a folder that end in `suffix`, without the suffix. If `suffix` is "", prints
 * the folders of GPUs. */
static void print_names(const char *folder, const char *suffix)
{
    struct dirent **list = NULL;
    int count = scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *name = list[i]->d_name;
        const size_t length = strlen(name), end = strlen(suffix);
        if (*name != '.' && length > end && strcmp(name + length - end, suffix) == 0) {
            name[length - end] = '\0';
            if (is_plain(name) && (*suffix || is_slug(name)))
                puts(name);
        }
        free(list[i]);
    }
    free(list);
}

static void print_share(const char *folder, const char *suffix)
{
    paths p;
    char path[PATHS_BYTES];
    if (!paths_find(&p, NULL) && paths_shared_file(&p, folder, path, sizeof path))
        print_names(path, suffix);
}

static void print_patterns(const options *o)
{
    (void)o;
    print_share("lua", ".lua");
}

static void print_commands(const options *o)
{
    for (size_t i = 0; i < o->command_count; i++)
        puts(o->commands[i]->name);
}

static void print_pages(const options *o)
{
    print_share("docs", ".md");
    print_share("docs/development", ".md");
    print_commands(o);
}

static void print_architectures(const options *o)
{
    size_t count;
    const arch_limits *known = arch_table(&count);
    const char *chip;
    (void)o;
    for (size_t i = 0; i < count; i++)
        puts(known[i].name);
    for (size_t c = 0; (chip = sim_chip_name(c)) != NULL; c++) {
        size_t i = 0;
        while (i < count && strcmp(chip, known[i].name) != 0)
            i++;
        if (i == count)
            puts(chip);
    }
}

static void print_gpus(const options *o)
{
    paths p;
    record_folders folders;
    const bool found = !paths_find(&p, NULL);
    record_folders_find(NULL, found ? &p : NULL, &folders);
    for (size_t i = 0; i < folders.count; i++)
        print_names(folders.paths[i], "");
    print_architectures(o);
}

static void print_devices(const options *o)
{
    device_properties found[MOST_DEVICES];
    const char *name;
    sim_chip chip, first;
    size_t count = 0;
    (void)o;
    puts("all\nsim");
    if (device_worker_list_names("cuda", found, MOST_DEVICES, &count, NULL))
        count = 0;
    for (size_t i = 0; i < count; i++)
        puts(found[i].spec);
    for (size_t c = 0; (name = sim_chip_name(c)) != NULL; c++) {
        printf("sim:%s\n", name);
        /* A product with several architectures is offered once. */
        if (!sim_chip_find(name, &chip, NULL) && strcmp(chip.product, name) != 0 &&
            !sim_chip_find(chip.product, &first, NULL) && strcmp(first.name, name) == 0)
            printf("sim:%s\n", chip.product);
    }
}

static script *load(const options *o)
{
    arch_limits limits;
    script *s = NULL;
    settings wanted = {.pattern.script = o->operand_count > 2 ? o->operands[2] : ""};
    if (!*wanted.pattern.script || target_find("sm_90", &limits, NULL) ||
        target_load_script(&wanted, &limits, &s, NULL))
        return NULL;
    return s;
}

static void print_variables(const options *o)
{
    script *s = load(o);
    for (size_t i = 0; s && i < script_pattern(s)->problem_count; i++)
        printf("%s=\n", script_pattern(s)->problems[PROBLEM_TUNED][i].name);
    script_free(s);
}

static void print_parameters(const options *o)
{
    script *s = load(o);
    for (size_t i = 0; s && i < script_pattern(s)->parameter_count; i++) {
        const space_parameter *p = &script_pattern(s)->parameters[i];
        printf("%s=\n", p->name);
        for (size_t k = 0; k < p->value_count; k++) {
            char text[VALUE_BYTES];
            value_format(p->values[k], text, sizeof text);
            if (is_plain(text))
                printf("%s=%s\n", p->name, text);
        }
    }
    script_free(s);
}

/* A kind of words. `options` and `operand` list the options and operands that take these words. */
static const struct kind {
    const char *name;
    void (*print)(const options *o);
    const char *options, *operand;
} kinds[] = {
    {"patterns", print_patterns, "", "SCRIPT PATTERN"},
    {"pages", print_pages, "", "PAGE"},
    {"commands", print_commands, "", ""},
    {"gpus", print_gpus, "gpu", ""},
    {"architectures", print_architectures, "arch", ""},
    {"devices", print_devices, "device", ""},
    {"variables", print_variables, "set", ""},
    {"parameters", print_parameters, "config only", ""},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_listed(const char *list, const char *word, size_t length)
{
    for (; *list && length; list += strcspn(list, " "), list += *list == ' ')
        if (strcspn(list, " ") == length && strncmp(list, word, length) == 0)
            return true;
    return false;
}

static const char *words_of_option(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (is_listed(kinds[i].options, name, strlen(name)))
            return kinds[i].name;
    return "";
}

static const char *words_of_operand(const char *operand)
{
    operand += strspn(operand, "[");
    for (size_t i = 0; i < KINDS; i++)
        if (is_listed(kinds[i].operand, operand, strcspn(operand, " .]")))
            return kinds[i].name;
    return "";
}

static const char *files_of_operand(const char *operand)
{
    static const char *const kinds_of_files[][2] = {{"FILE.cu", "cu"},
                                                    {"SCRIPT", "lua cu"},
                                                    {"PATTERN", "lua cu"},
                                                    {"FILE", "json jsonl gz"},
                                                    {"A B", "json jsonl gz"}};
    operand += strspn(operand, "[");
    for (size_t i = 0; i < sizeof kinds_of_files / sizeof *kinds_of_files; i++)
        if (strncmp(operand, kinds_of_files[i][0], strlen(kinds_of_files[i][0])) == 0)
            return kinds_of_files[i][1];
    return "";
}

static at_status print_words(const options *o, at_error *error)
{
    char all[256] = "";
    for (size_t i = 0; i < KINDS; i++) {
        if (o->operand_count > 1 && strcmp(kinds[i].name, o->operands[1]) == 0) {
            kinds[i].print(o);
            return AT_OK;
        }
        text_add(all, sizeof all, "%s%s", i ? ", " : "", kinds[i].name);
    }
    return error_set(error, AT_USAGE, "'completion words' needs a kind: %s", all);
}

static const char *const printed[] = {"bash", "zsh", "fish", "man"};
static const char *const pages[] = {"completion_bash", "completion_zsh", "completion_fish",
                                    "completion_man_program"};
enum { PRINTED = sizeof printed / sizeof *printed, MOST_COMMANDS = 64 };

/* Packs each option as {name, help, argument, words, asks}. `argument` may be null; `words` lists
 * the accepted words, "cold|warm", or is ""; `asks` is a kind of 'completion words' or "". */
static json_t *pack_options(const command *c)
{
    json_t *list = json_array();
    option_description o;
    for (size_t i = 0; options_describe(c, i, &o); i++)
        json_append(&list,
                    json_pack("{ss ss ss? ss ss}", "name", o.name, "help", o.help, "argument",
                              o.argument, "words", o.words, "asks", words_of_option(o.name)));
    return list;
}

/* Packs a command. `words` lists the words that its first operand may be. If the list is empty, the
 * operand is a file whose name has an ending in `files`, or a word of the kind `asks`. */
static json_t *pack_command(const command *c)
{
    const char *operand = c->operand ? c->operand : "";
    char details[OPTIONS_DETAILS_BYTES], first[OPTION_WORDS_BYTES];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(operand, " "), operand);
    options_details(c->name, details);
    return json_pack("{ss ss ss ss ss ss ss so}", "files", files_of_operand(operand), "name",
                     c->name, "operand", operand, "summary", c->summary, "words",
                     options_are_words(first) ? first : "", "asks", words_of_operand(operand),
                     "details", details, "options", pack_options(c));
}

static at_status print_page(const options *o, const char *page, json_t *found, at_error *error)
{
    char *text;
    at_status status = page_text(page, found, NULL, &text, error);
    if (!status)
        status = output_write(o, NULL, text, strlen(text), error);
    free(text);
    return status;
}

/* Packs the strategies: [{name, summary}]. */
static json_t *pack_strategies(void)
{
    size_t count;
    const strategy_kind *const *kinds_of_search = strategy_kinds(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&list, json_pack("{ss ss}", "name", kinds_of_search[i]->name, "summary",
                                     kinds_of_search[i]->summary));
    return list;
}

static at_status print_manual(const options *o, at_error *error)
{
    const char *names[MOST_COMMANDS], *wanted = o->operands[1];
    const command *c = options_command(o, wanted);
    if (c)
        return print_page(o, "completion_man_command",
                          json_pack("{ss so so}", "version", version_text(), "command",
                                    pack_command(c), "strategies", pack_strategies()),
                          error);
    size_t count = 0;
    for (; count < o->command_count && count < MOST_COMMANDS; count++)
        names[count] = o->commands[count]->name;
    const char *nearest = nearest_name(wanted, names, count);
    return error_set(error, AT_USAGE, "there is no command '%s'%s%s%s", wanted,
                     nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static at_status run(const options *o, at_error *error)
{
    char about[OPTIONS_DETAILS_BYTES];
    size_t kind = 0;
    if (strcmp(o->operand, "words") == 0)
        return print_words(o, error);
    if (strcmp(o->operand, "man") == 0 && o->operand_count > 1)
        return print_manual(o, error);
    while (kind < PRINTED && strcmp(o->operand, printed[kind]) != 0)
        kind++;
    if (kind == PRINTED) {
        const char *nearest = nearest_name(o->operand, printed, PRINTED);
        return error_set(error, AT_USAGE, "completion takes bash, zsh, fish or man, not '%s'%s%s%s",
                         o->operand, nearest ? "; did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
    }
    /* A command line without a command is completed like `tune`. */
    json_t *commands = json_array();
    const command *tune = options_command(o, "tune");
    json_append(&commands, pack_command(tune));
    for (size_t i = 0; i < o->command_count; i++)
        if (o->commands[i] != tune)
            json_append(&commands, pack_command(o->commands[i]));
    options_details("autotune", about);
    return print_page(
        o, pages[kind],
        json_pack("{ss ss so}", "version", version_text(), "about", about, "commands", commands),
        error);
}

const command cmd_completion = {
    .name = "completion",
    .operand = "bash|zsh|fish|man",
    .operands_least = 1,
    .operands_most = 3,
    .summary = "Print what bash, zsh or fish completes, or a manual page (man [COMMAND])",
    .raw = true,
    .run = run,
};
