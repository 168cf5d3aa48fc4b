/* code.c - the native code of a program's procedures. */
#include "cvl-cpu/procedures/private.h"

#include <string.h>

#include "cvl-cpu/compile/compile.h"
#include "fused-kernels/emit.h"

/* An entry that has been looked up. The list only grows, so that any thread may read it. */
struct found {
  struct found *next;
  const struct cvl_procedure *of;
  native_entry *entry;
};

struct cvl_procedure_code {
  struct compiled_code *code;
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
  code->code = compile_file(c->compile_cache, prefix, text, length);
  if (code->code) {
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
  compiled_free(code->code);
  heap_free(code->heap, code, sizeof *code);
}

bool procedure_ready(struct cvl_context *c, struct cvl_procedure_code *code,
                     enum cvl_procedure_wish wish) {
  (void)c;
  if (compiled_cached(code->code)) return true;
  switch (wish) {
  case CVL_PROCEDURES_LOOK: break;
  case CVL_PROCEDURES_COMPILE: return compiled_ready(code->code);
  case CVL_PROCEDURES_WAIT: return compiled_awaited(code->code);
  }
  return false;
}

/* Keeps what was found; without memory it is looked up again. */
static void code_keep(struct cvl_procedure_code *code, const struct cvl_procedure *of,
                      native_entry *entry) {
  struct found *f = heap_alloc(code->heap, sizeof *f);
  if (!f) return;
  *f = (struct found){atomic_load(&code->found), of, entry};
  while (!atomic_compare_exchange_weak(&code->found, &f->next, f)) {
  }
}

native_entry *procedure_native_entry(struct cvl_procedure_code *code,
                                     const struct cvl_procedure *of) {
  native_entry *entry = NULL;
  for (const struct found *f = atomic_load(&code->found); f; f = f->next) {
    if (f->of == of) return f->entry;
  }
  void *function = compiled_function(code->code, of->entry);
  if (!function) return NULL;
  memcpy(&entry, &function, sizeof entry); /* as POSIX means it */
  code_keep(code, of, entry);
  return entry;
}
