/* json.h - the elements of JSON that the profile and the trace are written with. */
#ifndef RAVEL_JSON_H
#define RAVEL_JSON_H

#include <stdio.h>

/* A string with its quotes; control characters are escaped, other bytes stay. */
void json_string(FILE *, const char *);
/* "key": x */
void json_number(FILE *, const char *key, double x);

#endif
