#include "cpp/comment.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char first_word[] = "autotune";

/* The end of the first word; NULL: it is another one. */
static const char *after_first_word(cpp_span comment)
{
    const char *at = comment.text + 2, *end = comment.text + comment.length;
    while (at < end && (isspace((unsigned char)*at) || *at == '*'))
        at++;
    const size_t size = sizeof first_word - 1;
    if ((size_t)(end - at) < size || memcmp(at, first_word, size) != 0)
        return NULL;
    at += size;
    return at < end && *at != ':' && !isspace((unsigned char)*at) && *at != '*' ? NULL : at;
}

/* Does only an end of line with blanks stand between? */
static bool follows(const char *end, const char *next)
{
    int lines = 0;
    for (; end < next; end++) {
        if (!isspace((unsigned char)*end))
            return false;
        lines += *end == '\n';
    }
    return lines <= 1;
}

bool cpp_comment_find(const char *text, cpp_span *comment, int *line)
{
    cpp_lexer l = cpp_lexer_make(text, strlen(text), 1);
    for (cpp_span c; cpp_next_comment(&l, &c, line);) {
        if (!after_first_word(c))
            continue;
        *comment = c;
        int ignored;
        for (cpp_span next; c.text[1] == '/' && cpp_next_comment(&l, &next, &ignored);) {
            if (next.text[1] != '/' || !follows(comment->text + comment->length, next.text))
                break;
            comment->length = (size_t)(next.text + next.length - comment->text);
        }
        return true;
    }
    return false;
}

bool cpp_comment_is_closed(cpp_span comment)
{
    return comment.text[1] == '/' ||
           (comment.length >= 4 && memcmp(comment.text + comment.length - 2, "*/", 2) == 0);
}

static void blank(char *at, size_t count)
{
    for (; count > 0; count--, at++)
        if (*at != '\n')
            *at = ' ';
}

char *cpp_comment_body(const char *text, cpp_span comment)
{
    const size_t before = (size_t)(comment.text - text);
    char *body = malloc(before + comment.length + 1);
    if (!body)
        return NULL;
    memcpy(body, text, before + comment.length);
    body[before + comment.length] = '\0';
    blank(body, before);
    const char *after = after_first_word(comment);
    blank(body + before,
          (size_t)((after ? after : comment.text) - comment.text) + (after && *after == ':'));
    char *end = body + before + comment.length;
    if (comment.text[1] == '*' && comment.length >= 4) {
        blank(end - 2, 2);
        return body;
    }
    for (char *c = body + before; *c; c++) { /* the signs of the lines that follow */
        bool starts = c == body || c[-1] == '\n';
        char *sign = c + strspn(c, " \t");
        if (starts && sign[0] == '/' && sign[1] == '/')
            blank(sign, 2);
    }
    return body;
}
