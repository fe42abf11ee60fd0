/* The comment of a CUDA file that describes how it is tuned. */
#ifndef AUTOTUNE_CPP_COMMENT_H
#define AUTOTUNE_CPP_COMMENT_H

#include "cpp/token.h"

/* Finds the first comment whose first word is "autotune": a block, or lines of // one after the
 * other. *comment is all of it, signs included, *line where it begins. False: there is none. */
bool cpp_comment_find(const char *text, cpp_span *comment, int *line);

/* Does it end, where it is a block? */
bool cpp_comment_is_closed(cpp_span comment);

/* The text of such a comment without its signs and its first word, which blanks replace, after as
 * many empty lines as stand before it: the lines of what is returned are the file's. The caller
 * frees it; NULL: no memory. */
char *cpp_comment_body(const char *text, cpp_span comment);

#endif
