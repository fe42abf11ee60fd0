/* The pieces of a text in C or CUDA: each function is given where one starts, in a text that ends
 * in a NUL, and returns where it ends, at most the end of the text. */
#ifndef AUTOTUNE_EXPORT_C_PIECE_H
#define AUTOTUNE_EXPORT_C_PIECE_H

/* A comment, literal, name or number; of any other character that alone. */
const char *c_skip_piece(const char *at);

/* A string or character that is not raw: at most the end of its line. */
const char *c_skip_quoted(const char *at);
/* Up to the end of the line, with those that a backslash continues it by. */
const char *c_skip_line(const char *at);
/* What begins like a comment that may go over lines. */
const char *c_skip_comment(const char *at);
/* A name; `at` where none is. */
const char *c_skip_name(const char *at);

#endif
