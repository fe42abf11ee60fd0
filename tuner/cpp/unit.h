/* Parses CUDA C++ text into declarations, macros and includes, which point into the text. Cuts the
 * text to the declarations that a kernel needs, with the same line numbers. Uses no compiler and
 * evaluates no conditions: the lines below every #if and #else are read. The only error is a lack
 * of memory. Text that is not C++ gives wrong declarations, which the compiler rejects later. */
#ifndef AUTOTUNE_CPP_UNIT_H
#define AUTOTUNE_CPP_UNIT_H

#include "base/array.h"
#include "base/error.h"
#include "cpp/token.h"

typedef enum cpp_kind {
    CPP_FUNCTION, /* a definition, a prototype, or a macro call */
    CPP_TYPE,     /* class, struct, union or enum */
    CPP_VARIABLE,
    CPP_ALIAS, /* typedef, using X =, namespace x = */
    CPP_USING, /* using namespace X */
    CPP_OTHER  /* static_assert, asm */
} cpp_kind;

typedef struct cpp_declaration {
    cpp_kind kind;
    cpp_span span;
    int line;
    cpp_span name;                 /* name of a function without its scope; "" for other kinds */
    cpp_span head;                 /* for a function: the text before its name */
    cpp_span parameters;           /* for a function: the text between the brackets */
    cpp_span template_of;          /* template parameters: the text between < and > */
    size_t first_name, name_count; /* range of the declared names in unit.names */
    char *scope;                   /* owned: "ns::inner::"; "" at file scope and for members */
    bool member;                   /* the declaration is a member of a class */
    bool has_body, is_special;     /* is_special: = default, = delete, = 0 */
    bool wanted;                   /* set by cpp_need() */
} cpp_declaration;

typedef struct cpp_macro {
    cpp_span name, value;
    cpp_span span; /* the directive, or the declaration of a constant */
    int line;
    size_t next; /* index of the next macro with the same name key; 0 for the last */
    bool has_parameters;
    bool is_constant; /* const or constexpr NAME = VALUE; or NAME{VALUE}; at file scope */
} cpp_macro;

typedef struct cpp_include {
    cpp_span span, name; /* the directive; the name in its quotes */
    int line;
    bool is_quoted;
    bool is_missing; /* set by the caller: the header is missing; cpp_render() drops the line */
    bool is_empty;   /* set by the caller: the header exists but has nothing for a device */
    bool is_ahead;   /* set by the caller: the header's text stands before the file's; cpp_render()
                        drops the line */
} cpp_include;

typedef struct cpp_unit {
    const char *text; /* borrowed, ends with NUL */
    size_t length;
    cpp_declaration *declarations; /* in the order of the text, members behind their class */
    cpp_macro *macros;
    cpp_include *includes;
    cpp_span *names;
    size_t declaration_count, macro_count, include_count, name_count;
    keymap first_macros;  /* index of the first macro by the cpp_span_key() of its name */
    cpp_span own_comment; /* the comment that begins with "autotune"; "" if there is none */
} cpp_unit;

/* Reads a text, which must outlive the unit. `scopes` are other units' macros that open or close a
 * scope (cpp_opened_scopes()). The only error is AT_NO_MEMORY. The caller frees *out. */
at_status cpp_unit_read(const char *text, const cpp_macro *scopes, size_t scope_count,
                        cpp_unit *out, at_error *error);
void cpp_unit_deinit(cpp_unit *u);

/* Fills a unit's lists for cpp_unit_read(). Returns false if memory is short. */
bool cpp_parse(cpp_unit *u, const cpp_macro *scopes, size_t scope_count);

/* Returns the scopes that a macro opens minus those that it closes: -1 for #define END_NS } */
int cpp_opened_scopes(const cpp_macro *m);

/* Counts the #include lines at the beginning. Only lines that cannot change the headers stand above
 * them: comments, #pragma, definitions of `given` names, and definitions without a value. */
size_t cpp_leading_includes(const cpp_unit *u, const cpp_span *given, size_t given_count);

/* Finds a macro by name in all units. Returns NULL if there is none. */
const cpp_macro *cpp_find_macro(const cpp_unit *units, size_t count, cpp_span name);

/* Finds a variable or an enumerator at file scope. Returns NULL if the unit has no such name. */
const cpp_declaration *cpp_find_variable(const cpp_unit *u, const char *name);

/* Tells whether a text, or a macro that it uses, contains one of the `words`, a list that ends with
 * NULL. Follows macros for six levels and about 4,000 tokens. */
bool cpp_text_has(const cpp_unit *units, size_t count, cpp_span text, const char *const *words);

/* Tells whether a declaration is a function annotated __global__. */
bool cpp_is_kernel(const cpp_unit *units, size_t count, const cpp_declaration *d);

/* a parameter of a function; `name` is "" if the parameter has no name */
typedef struct cpp_parameter {
    cpp_span text, name;
} cpp_parameter;

/* Reads up to `capacity` parameters from the text between the brackets (its `text` may be NULL).
 * Returns their number. */
size_t cpp_parameters(cpp_span list, cpp_parameter *out, size_t capacity);

/* Sets `wanted` of each declaration that device code may use and that a wanted text names. Wanted
 * texts are the `roots`, such as "ns::scale<BLOCK, float>", and all wanted declarations. Only names
 * are compared, so more than a compiler needs may be wanted, but never less. With `is_device`,
 * functions without an annotation are device functions. The only error is AT_NO_MEMORY. */
at_status cpp_need(cpp_unit *units, size_t count, const cpp_span *roots, size_t root_count,
                   bool is_device, at_error *error);

/* Returns the text with wanted declarations and directives, without definitions of `given` names
 * and without #include lines of headers that are missing or ahead. Line numbers stay: ends of lines
 * replace the cut text, and a line that became empty holds a vertical tab. The caller frees the
 * text. Returns NULL if memory is short. */
char *cpp_render(const cpp_unit *u, const cpp_span *given, size_t given_count);

#endif
