/* arrow.h - the Arrow C data interface and C stream interface, as their standard defines them:
 * https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
 *
 * These definitions are meant to be repeated wherever they are used; the guards are the
 * standard's. Programs with a header of another library that has them need not include this.
 */
#ifndef RAVEL_LIBRAVEL_ARROW_H
#define RAVEL_LIBRAVEL_ARROW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *); /* NULL: released */
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count; /* -1: not known */
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *); /* NULL: released */
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  /* These return 0, or a code as of errno. */
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out); /* released: the end */
  const char *(*get_last_error)(struct ArrowArrayStream *);           /* or NULL */
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif

#ifdef __cplusplus
}
#endif

#endif
