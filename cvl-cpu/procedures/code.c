/* code.c - the native code of a program's procedures. */
#include "cvl-cpu/procedures/private.h"

#include <string.h>

#include "cvl-cpu/compile/compile.h"
#include "fused-kernels/emit.h"

/* The compiler takes seconds for a text with more bytes than that. It is compiled with little
 * optimisation first, in a third of the time or less, to code that takes up to three times as
 * long, which is mostly better than none. */
enum { LONG_TEXT = 128 << 10 };

/* An entry that has been looked up. The list only grows, so that any thread may read it. */
struct found {
  struct found *next;
  const struct compiled_code *in;
  const struct cvl_procedure *of;
  native_entry *entry;
};

struct cvl_procedure_code {
  struct compiled_code *code;
  struct compiled_code *soon; /* used until `code` is there; or NULL */
  struct heap *heap;
  _Atomic(struct found *) found;
};

struct cvl_procedure_code *procedure_prepare(struct cvl_context *c, const char *text,
                                             uint64_t length, bool *owed) {
  char prefix[FUSED_NAME_MAX];
  if (!c->compile_cache) return NULL;
  struct cvl_procedure_code *code = heap_alloc(c->heap, sizeof *code);
  if (!code) return NULL;
  *code = (struct cvl_procedure_code){.heap = c->heap};
  fused_functions_prefix(text, length, prefix);
  code->code = compile_file(c->compile_cache, prefix, text, length, false);
  if (code->code) {
    if (length > LONG_TEXT && compile_when_it_pays(c->compile_cache) &&
        !compiled_cached(code->code))
      code->soon = compile_file(c->compile_cache, prefix, text, length, true);
    procedure_watch_new(c);
    *owed = compiled_owed(code->code);
    return code;
  }
  heap_free(c->heap, code, sizeof *code);
  return NULL;
}

void procedure_discard(struct cvl_context *c, struct cvl_procedure_code *code, double spent) {
  (void)c;
  for (struct found *f = code->found, *next; f; f = next) {
    next = f->next;
    heap_free(code->heap, f, sizeof *f);
  }
  if (!compiled_cached(code->code)) compiled_spent(code->code, spent);
  compiled_free(code->soon);
  compiled_free(code->code);
  heap_free(code->heap, code, sizeof *code);
}

/* Whether the code for the meantime is there, or is compiled first. */
static bool comes_soon(const struct cvl_procedure_code *code) {
  return code->soon && !compiled_failed(code->soon);
}

bool procedure_ready(struct cvl_context *c, struct cvl_procedure_code *code,
                     enum cvl_procedure_wish wish) {
  (void)c;
  if (compiled_cached(code->code)) return true;
  switch (wish) {
  case CVL_PROCEDURES_LOOK: return comes_soon(code) && compiled_cached(code->soon);
  case CVL_PROCEDURES_COMPILE:
    return compiled_ready(comes_soon(code) ? code->soon : code->code);
  case CVL_PROCEDURES_WAIT: return compiled_awaited(code->code);
  }
  return false;
}

/* Returns the code to execute. Once that for the meantime is there, the better one is compiled
 * as well. */
static const struct compiled_code *best_code(struct cvl_procedure_code *code) {
  if (!code->soon || compiled_ready(code->code)) return code->code;
  return compiled_cached(code->soon) ? code->soon : code->code;
}

/* Keeps what was found; without memory it is looked up again. */
static void code_keep(struct cvl_procedure_code *code, const struct compiled_code *in,
                      const struct cvl_procedure *of, native_entry *entry) {
  struct found *f = heap_alloc(code->heap, sizeof *f);
  if (!f) return;
  *f = (struct found){atomic_load(&code->found), in, of, entry};
  while (!atomic_compare_exchange_weak(&code->found, &f->next, f)) {
  }
}

native_entry *procedure_native_entry(struct cvl_procedure_code *code,
                                     const struct cvl_procedure *of) {
  native_entry *entry = NULL;
  const struct compiled_code *best = best_code(code);
  for (const struct found *f = atomic_load(&code->found); f; f = f->next) {
    if (f->of == of && f->in == best) return f->entry;
  }
  void *function = compiled_function(best, of->entry);
  if (!function) return NULL;
  memcpy(&entry, &function, sizeof entry); /* as POSIX means it */
  code_keep(code, best, of, entry);
  return entry;
}
