/* python.h - what the package for Python cannot do by functions of Python itself.
 *
 * A capsule's destructor and the release functions of Arrow's structs may be called while an
 * exception is pending: whoever leaves a function by an exception drops what it held. The
 * interpreter must not execute anything then, or that exception is lost. These functions do it
 * in C, by the interpreter's functions, whose addresses the package sets: nothing is linked
 * with Python.
 */
#ifndef RAVEL_LIBRAVEL_PYTHON_H
#define RAVEL_LIBRAVEL_PYTHON_H

#include "include/ravel.h"
#include "libravel/arrow.h"

#include <stdbool.h>

/* Functions of Python's C interface. */
struct ravel_python {
  int (*is_alive)(void);                             /* Py_IsInitialized */
  int (*enter)(void);                                /* PyGILState_Ensure */
  void (*leave)(int state);                          /* PyGILState_Release */
  void (*drop)(void *object);                        /* Py_DecRef */
  const char *(*name)(void *capsule);                /* PyCapsule_GetName */
  void *(*content)(void *capsule, const char *name); /* PyCapsule_GetPointer */
  void *(*context)(void *capsule);                   /* PyCapsule_GetContext */
};
/* Sets the functions, before any other function is used: a process has one interpreter. */
RAVEL_API void ravel_python_begin(const struct ravel_python *);

/* These are release functions of structs on the memory of Python. Their private_data is the
 * object that owns it, a reference of which they drop. Any thread may call them, with or
 * without the interpreter's lock. */
RAVEL_API void ravel_python_release_schema(struct ArrowSchema *);
RAVEL_API void ravel_python_release_array(struct ArrowArray *);

/* Makes a stream of one array, and takes both structs over. Their formats must be constants.
 * Returns false without memory. */
RAVEL_API bool ravel_python_stream(struct ArrowSchema *, struct ArrowArray *,
                                   struct ArrowArrayStream *);

/* Destroys capsules of Arrow and of DLPack: it releases the content unless a consumer took it,
 * and drops the capsule's context, an object, unless it is NULL. */
RAVEL_API void ravel_python_end_capsule(void *capsule);

#endif
