/* kept.c - functions that a context keeps under keys of its user. */
#include "libravel/private.h"

#include <string.h>

struct ravel_function *ravel_kept(const struct ravel_context *c, const char *key) {
  if (!c || !c->usable || !key) return NULL;
  struct ravel_function *f = c->functions;
  while (f && !(f->user_key && strcmp(f->user_key, key) == 0)) f = f->next;
  return f;
}

struct keeping {
  struct ravel_function *f;
  const char *key;
};

static enum ravel_code keep_function(struct ravel_context *c, void *data) {
  struct keeping *k = data;
  (void)c;
  k->f->user_key = arena_copy(&k->f->arena, k->key, strlen(k->key));
  return RAVEL_OK;
}

enum ravel_code ravel_keep(struct ravel_context *c, const char *key, struct ravel_function *f) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!key || !f) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  if (f->context != c) {
    return ravel_fail(c, RAVEL_MISUSE, "the function belongs to another context");
  }
  if (f->user_key) return ravel_fail(c, RAVEL_MISUSE, "the function is kept already");
  if (ravel_kept(c, key)) return ravel_fail(c, RAVEL_MISUSE, "`%.200s` is kept already", key);
  struct keeping k = {f, key};
  const enum ravel_code code = ravel_guarded(c, keep_function, &k);
  if (code == RAVEL_OK) f->references++;
  return code;
}
