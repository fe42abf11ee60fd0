/* A file of CUDA C++ as declarations: what a reader of the text finds, without a compiler.
 *
 * In: text. Out: its declarations, macros and includes, as places in the text. What a name means is
 * the compiler's to say; this finds where a kernel stands, how its parameters are called, and which
 * declarations a kernel can need (cpp/need.h). Conditions are not evaluated: what stands under any
 * #if counts. Nothing here fails but for a lack of memory: text that is not C++ gives declarations
 * that make little sense, and the compiler says what is wrong with it. */
#ifndef AUTOTUNE_CPP_UNIT_H
#define AUTOTUNE_CPP_UNIT_H

#include "base/array.h"
#include "base/error.h"
#include "cpp/token.h"

typedef enum cpp_kind {
    CPP_FUNCTION, /* its definition or a prototype; a macro that is called */
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
    cpp_span name;                        /* of a function, without its scope; "" for the others */
    cpp_span head;                        /* of a function: what stands before its name */
    cpp_span parameters;                  /* of a function: between the brackets */
    cpp_span template_of;                 /* its parameters: between < and > */
    size_t first_name, name_count;        /* in unit.names: what it declares */
    char *scope;                          /* owned: "ns::inner::"; "" outside all, and of members */
    bool member;                          /* of a class */
    bool c_linkage, has_body, is_special; /* special: = default, = delete, = 0 */
    bool wanted;                          /* cpp_need() sets it */
} cpp_declaration;

typedef struct cpp_macro {
    cpp_span name, value;
    cpp_span span; /* the directive, or the declaration of a constant */
    int line;
    size_t next; /* place of the next macro whose name has this one's key; 0: it is the last */
    bool has_parameters;
    bool is_constant; /* const or constexpr NAME = VALUE; or NAME{VALUE}; at file scope, and no
                         macro */
} cpp_macro;

typedef struct cpp_include {
    cpp_span span, name; /* the directive; the name between its quotes */
    int line;
    bool is_quoted;
    bool is_missing; /* the caller's to set: the line is left out of what is rendered */
    bool is_empty;   /* likewise: there is such a header, but nothing for a device in it */
    bool is_ahead;   /* likewise: it stands ahead of the file; the line is left out */
} cpp_include;

typedef struct cpp_unit {
    const char *text; /* borrowed, NUL-terminated */
    size_t length;
    cpp_declaration *declarations; /* in the order of the text; members after their class */
    cpp_macro *macros;
    cpp_include *includes;
    cpp_span *names;
    size_t declaration_count, macro_count, include_count, name_count;
    keymap first_macros;  /* by cpp_span_key() of a name: the first macro of that key */
    cpp_span own_comment; /* the one that begins with the word "autotune"; "" */
} cpp_unit;

/* Reads a text, which has to outlive the unit. `scopes` are `scope_count` macros of other units
 * that open or close a scope (cpp_opened_scopes); the unit's own are known. AT_NO_MEMORY. The
 * caller frees the unit. */
at_status cpp_unit_read(const char *text, const cpp_macro *scopes, size_t scope_count,
                        cpp_unit *out, at_error *error);
void cpp_unit_deinit(cpp_unit *u);

/* Fills the lists of a unit whose text is set, for cpp_unit_read(). False if there is no memory. */
bool cpp_parse(cpp_unit *u, const cpp_macro *scopes, size_t scope_count);

/* Counts the scopes that the macro opens and does not close: -1 of #define END_NAMESPACE } */
int cpp_opened_scopes(const cpp_macro *m);

/* Counts the first of the unit's #include lines, those before anything that could change what they
 * mean: only comments, #pragma lines, definitions of `given` names and of one without a value, a
 * header's guard, are above them. */
size_t cpp_leading_includes(const cpp_unit *u, const cpp_span *given, size_t given_count);

/* The macro of this name in one of the units; NULL: there is none. */
const cpp_macro *cpp_find_macro(const cpp_unit *units, size_t count, cpp_span name);

/* The declaration at file scope that declares a variable or an enumerator of this name; NULL: there
 * is none in the unit. */
const cpp_declaration *cpp_find_variable(const cpp_unit *u, const char *name);

/* Does the text have one of the words, itself or by a macro of a name that it uses? `words` ends
 * with NULL. Macros are followed as far as people's annotations go: six deep, a few thousand
 * tokens. */
bool cpp_text_has(const cpp_unit *units, size_t count, cpp_span text, const char *const *words);

/* Is it a function that is annotated __global__? */
bool cpp_is_kernel(const cpp_unit *units, size_t count, const cpp_declaration *d);

/* One parameter of a function: its text, and its name, which is "" if it has none. */
typedef struct cpp_parameter {
    cpp_span text, name;
} cpp_parameter;

/* Reads up to `capacity` parameters from between the brackets; returns how many there are: none
 * where there are no brackets. */
size_t cpp_parameters(cpp_span list, cpp_parameter *out, size_t capacity);

#endif
