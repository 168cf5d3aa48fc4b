/* json.h - elements of JSON for the profile and the trace. */
#ifndef RAVEL_JSON_H
#define RAVEL_JSON_H

#include <stdio.h>

/* Writes a string with its quotes; control characters are escaped, other bytes stay. */
void json_string(FILE *, const char *);
/* Writes "key": x. */
void json_number(FILE *, const char *key, double x);

#endif
