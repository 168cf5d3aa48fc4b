/* export-memory.c - arrays and schemas that own what they point to, until they are released. */
#include "libravel/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  ALIGNMENT = 64,      /* what the standard recommends for buffers */
  HUGE_PAGE = 2 << 20, /* fresh pages take longer than a copy: few and large ones less */
  LARGE = 4 * HUGE_PAGE
};

/* ---- arrays ---- */

struct owned_array {
  const void *buffers[3];
  struct cvl_notice ends[3];  /* of buffers that are shared */
  struct ArrowArray *storage; /* of the children: moved ones are marked as released */
  struct ArrowArray *children[];
};

static void release_buffer(struct owned_array *own, int64_t i) {
  if (own->ends[i].call) {
    own->ends[i].call(own->ends[i].with);
  } else {
    free((void *)(uintptr_t)own->buffers[i]);
  }
}

static void release_exported_array(struct ArrowArray *a) {
  struct owned_array *own = a->private_data;
  for (int64_t i = 0; i < a->n_children; i++) {
    if (own->children[i]->release) own->children[i]->release(own->children[i]);
  }
  for (int64_t i = 0; i < a->n_buffers; i++) release_buffer(own, i);
  free(own->storage);
  free(own);
  a->release = NULL;
}

/* Allocates what owns an array or a schema and its children; NULL without memory. */
#define OWN_CHILDREN(own, count)                                                               \
  do {                                                                                         \
    (own) = calloc(1, sizeof *(own) + (size_t)(count) * sizeof *(own)->children);              \
    if (!(own) || (count) == 0) break;                                                         \
    (own)->storage = calloc((size_t)(count), sizeof *(own)->storage);                          \
    for (int64_t i = 0; (own)->storage && i < (count); i++)                                    \
      (own)->children[i] = &(own)->storage[i];                                                 \
    if ((own)->storage) break;                                                                 \
    free(own);                                                                                 \
    (own) = NULL;                                                                              \
  } while (0)

bool export_begin_array(struct ArrowArray *a, uint64_t n, int64_t buffers, int64_t children) {
  *a = (struct ArrowArray){.release = NULL};
  struct owned_array *own;
  OWN_CHILDREN(own, children);
  if (!own) return false;
  *a = (struct ArrowArray){.length = (int64_t)n,
                           .n_buffers = buffers,
                           .n_children = children,
                           .buffers = own->buffers,
                           .children = children ? own->children : NULL,
                           .release = release_exported_array,
                           .private_data = own};
  return true;
}

void *export_buffer(struct ArrowArray *a, unsigned i, uint64_t n, uint64_t bytes_each) {
  if (n > (uint64_t)PTRDIFF_MAX / bytes_each - HUGE_PAGE) return NULL;
  const size_t bytes = (size_t)(n * bytes_each);
  const size_t alignment = bytes < LARGE ? (size_t)ALIGNMENT : (size_t)HUGE_PAGE;
  const size_t size = bytes / alignment * alignment + alignment;
  char *data = aligned_alloc(alignment, size);
  if (!data) return NULL;
  if (bytes >= LARGE) (void)madvise(data, size, MADV_HUGEPAGE); /* a wish */
  memset(data + bytes, 0, ALIGNMENT - bytes % ALIGNMENT);
  struct owned_array *own = a->private_data;
  own->buffers[i] = data;
  return data;
}

void export_lent(struct ArrowArray *a, unsigned i, const struct cvl_export *exported) {
  struct owned_array *own = a->private_data;
  own->buffers[i] = exported->data;
  own->ends[i] = exported->end;
}

/* ---- schemas ---- */

struct owned_schema {
  char name[24];
  struct ArrowSchema *storage;
  struct ArrowSchema *children[];
};

static void release_exported_schema(struct ArrowSchema *s) {
  struct owned_schema *own = s->private_data;
  for (int64_t i = 0; i < s->n_children; i++) {
    if (own->children[i]->release) own->children[i]->release(own->children[i]);
  }
  free(own->storage);
  free(own);
  s->release = NULL;
}

bool export_begin_schema(struct ArrowSchema *s, const char *format, const char *name,
                         int64_t number, int64_t children) {
  *s = (struct ArrowSchema){.release = NULL};
  struct owned_schema *own;
  OWN_CHILDREN(own, children);
  if (!own) return false;
  if (name) {
    snprintf(own->name, sizeof own->name, "%s", name);
  } else {
    snprintf(own->name, sizeof own->name, "%" PRId64, number);
  }
  *s = (struct ArrowSchema){.format = format,
                            .name = own->name,
                            .n_children = children,
                            .children = children ? own->children : NULL,
                            .release = release_exported_schema,
                            .private_data = own};
  return true;
}
