/* json.c - see json.h. */
#include "vinterp/report/json.h"

#include "base/number.h"

void json_string(FILE *out, const char *s) {
  fputc('"', out);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') fputc('\\', out);
    if ((unsigned char)*s < ' ') {
      fprintf(out, "\\u%04x", (unsigned)(unsigned char)*s);
    } else {
      fputc(*s, out);
    }
  }
  fputc('"', out);
}

void json_number(FILE *out, const char *key, double x) {
  char text[NUMBER_TEXT_MAX];
  format_float_exact(text, x);
  fprintf(out, "\"%s\": %s", key, text);
}
