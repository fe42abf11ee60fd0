/* Finds the place of a JSON value in its text. */
#ifndef AUTOTUNE_RECORD_JSON_POINTER_H
#define AUTOTUNE_RECORD_JSON_POINTER_H

/* The line, from 1, on which the value of the pointer (RFC 6901) begins in a text that is valid
 * JSON; of a member that is not there, that of the last value on the way. */
int json_pointer_line(const char *text, const char *pointer);

#endif
