#include "export/c_piece.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *c_skip_quoted(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

const char *c_skip_line(const char *at)
{
    while (*at && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

const char *c_skip_comment(const char *at)
{
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* R"x( ... )x" */
static const char *skip_raw(const char *at)
{
    const char *open = strchr(at, '(');
    char close[24];
    if (!open || open - at > 16)
        return c_skip_quoted(at);
    snprintf(close, sizeof close, ")%.*s\"", (int)(open - at - 1), at + 1);
    const char *end = strstr(open, close);
    return end ? end + strlen(close) : at + strlen(at);
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

const char *c_skip_name(const char *at)
{
    while (is_name_start(*at) || isdigit((unsigned char)*at))
        at++;
    return at;
}

const char *c_skip_piece(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return c_skip_line(at);
    if (at[0] == '/' && at[1] == '*')
        return c_skip_comment(at);
    if (*at == '"' || *at == '\'')
        return c_skip_quoted(at);
    if (is_name_start(*at)) {
        const char *end = c_skip_name(at);
        return *end == '"' && end[-1] == 'R' ? skip_raw(end) : end;
    }
    /* 1'000'000 is a number, no character. */
    if (isdigit((unsigned char)*at)) {
        while (isalnum((unsigned char)*at) || *at == '.' ||
               (*at == '\'' && isalnum((unsigned char)at[1])))
            at++;
        return at;
    }
    return at + 1;
}
