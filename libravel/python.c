/* python.c - destructors for the package for Python: see python.h. */
#include "libravel/python.h"

#include "libravel/dlpack.h"
#include "libravel/export.h"

#include <string.h>

/* The only state of this library outside a context, as a process has one interpreter. */
static struct ravel_python python;

void ravel_python_begin(const struct ravel_python *functions) {
  python = *functions;
}

/* ---- structs on the memory of Python ---- */

/* Drops a reference. After the interpreter's end its objects are gone already. */
static void drop_object(void *object) {
  if (!python.is_alive()) return;
  const int state = python.enter();
  python.drop(object);
  python.leave(state);
}

void ravel_python_release_schema(struct ArrowSchema *s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
  }
  s->release = NULL;
  drop_object(s->private_data);
}

void ravel_python_release_array(struct ArrowArray *a) {
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
  }
  a->release = NULL;
  drop_object(a->private_data);
}

/* ---- streams ---- */

static void release_nothing(void *with) {
  (void)with;
}

bool ravel_python_stream(struct ArrowSchema *schema, struct ArrowArray *array,
                         struct ArrowArrayStream *out) {
  const struct export_watch nobody = {release_nothing, release_nothing, NULL};
  return export_batches(schema, array, INT64_MAX, nobody, out);
}

/* ---- capsules ---- */

static void release_content(const char *name, void *content) {
  struct ArrowSchema *schema = content;
  struct ArrowArray *array = content;
  struct ArrowArrayStream *stream = content;
  DLManagedTensor *tensor = content;
  DLManagedTensorVersioned *versioned = content;
  if (strcmp(name, "arrow_schema") == 0) {
    if (schema->release) schema->release(schema);
  } else if (strcmp(name, "arrow_array") == 0) {
    if (array->release) array->release(array);
  } else if (strcmp(name, "arrow_array_stream") == 0) {
    if (stream->release) stream->release(stream);
  } else if (strcmp(name, "dltensor") == 0) { /* who takes one renames the capsule */
    if (tensor->deleter) tensor->deleter(tensor);
  } else if (strcmp(name, "dltensor_versioned") == 0) {
    if (versioned->deleter) versioned->deleter(versioned);
  }
}

void ravel_python_end_capsule(void *capsule) {
  const char *name = python.name(capsule);
  void *owner = python.context(capsule);
  if (name) release_content(name, python.content(capsule, name));
  if (owner) python.drop(owner);
}
