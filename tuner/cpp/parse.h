/* The parser of a unit (cpp/unit.h). */
#ifndef AUTOTUNE_CPP_PARSE_H
#define AUTOTUNE_CPP_PARSE_H

#include "cpp/unit.h"

/* Fills the lists of a unit, whose text is set. False: there is no memory. */
bool cpp_parse(cpp_unit *u);

#endif
