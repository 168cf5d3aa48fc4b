/* export-batches.c - an array as a stream of arrays, slices of it on the same memory.
 *
 * A struct's slice is one of each of its fields; other slices begin at an offset, so that
 * buffers and items of lists are those of the whole.
 */
#include "libravel/export.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The array that is cut; it ends with the stream and all slices. */
struct whole {
  atomic_uint users;
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct export_watch watch;
};

struct batches {
  struct whole *whole;
  int64_t next, rows;
  bool ended;
};

static void leave_whole(struct whole *w) {
  if (atomic_fetch_sub_explicit(&w->users, 1, memory_order_acq_rel) > 1) return;
  w->schema.release(&w->schema);
  w->array.release(&w->array);
  w->watch.end(w->watch.with);
  free(w);
}

/* ---- slices ---- */

struct slice {
  struct whole *whole;
  struct ArrowArray *storage;
  struct ArrowArray *children[];
};

static void release_slice(struct ArrowArray *a) {
  struct slice *own = a->private_data;
  for (int64_t i = 0; i < a->n_children; i++) {
    if (own->children[i]->release) own->children[i]->release(own->children[i]);
  }
  leave_whole(own->whole);
  free(own->storage);
  free(own);
  a->release = NULL;
}

/* Makes a slice that has no children yet. */
static struct slice *new_array_slice(struct whole *w, int64_t children) {
  struct slice *own = calloc(1, sizeof *own + (size_t)children * sizeof own->children[0]);
  if (!own) return NULL;
  own->storage = calloc((size_t)children + 1, sizeof *own->storage);
  if (!own->storage) {
    free(own);
    return NULL;
  }
  for (int64_t i = 0; i < children; i++) own->children[i] = &own->storage[i];
  own->whole = w;
  atomic_fetch_add_explicit(&w->users, 1, memory_order_relaxed);
  return own;
}

/* Makes a slice of elements first .. first + n of an exported array. The slice shares the
 * array's buffers, and its own offset is 0. */
static bool slice_array(struct whole *w, const struct ArrowArray *of, int64_t first, int64_t n,
                        struct ArrowArray *out) {
  const bool is_struct = of->n_buffers == 1;
  struct slice *own = new_array_slice(w, of->n_children);
  if (!own) return false;
  *out = *of;
  out->length = n;
  out->offset = is_struct ? 0 : first;
  out->children = of->n_children ? own->children : NULL;
  out->private_data = own;
  out->release = release_slice;
  bool good = true;
  for (int64_t i = 0; good && i < of->n_children; i++) {
    const struct ArrowArray *child = of->children[i];
    good = is_struct ? slice_array(w, child, first, n, own->children[i])
                     : slice_array(w, child, 0, child->length, own->children[i]);
  }
  if (!good) out->release(out);
  return good;
}

/* ---- schemas ---- */

static bool copy_schema(const struct ArrowSchema *of, struct ArrowSchema *out) {
  bool good = export_begin_schema(out, of->format, of->name, 0, of->n_children);
  for (int64_t i = 0; good && i < of->n_children; i++)
    good = copy_schema(of->children[i], out->children[i]);
  if (!good && out->release) out->release(out);
  return good;
}

/* ---- the stream ---- */

static int batches_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  const struct batches *b = s->private_data;
  return copy_schema(&b->whole->schema, out) ? 0 : ENOMEM;
}

/* Gets the next array. The system need not keep in memory what was read of the arrays before
 * it. */
static int batches_get_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct batches *b = s->private_data;
  const int64_t left = b->whole->array.length - b->next;
  const int64_t n = left < b->rows ? left : b->rows;
  out->release = NULL;
  if (b->ended) return 0;
  b->whole->watch.give_back(b->whole->watch.with);
  if (!slice_array(b->whole, &b->whole->array, b->next, n, out)) return ENOMEM;
  b->next += n;
  b->ended = n == left;
  return 0;
}

static const char *batches_get_last_error(struct ArrowArrayStream *s) {
  (void)s;
  return "no memory for an array of Arrow"; /* nothing else fails */
}

static void batches_release(struct ArrowArrayStream *s) {
  struct batches *b = s->private_data;
  leave_whole(b->whole);
  free(b);
  s->release = NULL;
}

bool export_batches(struct ArrowSchema *schema, struct ArrowArray *array, int64_t rows,
                    struct export_watch watch, struct ArrowArrayStream *out) {
  struct batches *b = malloc(sizeof *b);
  struct whole *w = malloc(sizeof *w);
  if (!b || !w) {
    free(b);
    free(w);
    return false;
  }
  atomic_init(&w->users, 1);
  w->schema = *schema;
  w->array = *array;
  w->watch = watch;
  *b = (struct batches){.whole = w, .rows = rows};
  *out = (struct ArrowArrayStream){.get_schema = batches_get_schema,
                                   .get_next = batches_get_next,
                                   .get_last_error = batches_get_last_error,
                                   .release = batches_release,
                                   .private_data = b};
  return true;
}
