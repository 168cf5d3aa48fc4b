/* vectors.c - see vectors.h. */
#include "bench/vectors.h"

#include <stdlib.h>

#include "base/diag.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl/plugin.h"
#include "cvl/tuning.h"
#ifdef RAVEL_HAS_CUDA_EMULATION
#include "cvl-cuda/emulation.h"
#endif

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *all[] = {&cvl_cpu_backend, NULL, NULL};
#ifdef RAVEL_HAS_CUDA_EMULATION
  all[1] = cvl_cuda_emulation_backend();
#endif
  return all;
}

static _Noreturn void vectors_give_up(const struct bench *b, const char *what) {
  fprintf(stderr, "%s: %s\n", b->backend ? b->backend->name : b->options->backend, what);
  exit(1);
}

/* Returns the values of --tuning; ends the program if there is something wrong with them. */
static struct tuning tuning_of(const struct bench *b) {
  enum { MOST = 1 << 16 };
  static char text[MOST];
  struct tuning values = {0};
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  FILE *in = b->options->tuning ? fopen(b->options->tuning, "re") : NULL;
  if (b->options->tuning && !in) vectors_give_up(b, "the file of --tuning cannot be read");
  if (!in) return values;
  const size_t length = fread(text, 1, MOST, in);
  fclose(in);
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  const bool fine = tuning_parse(b->options->tuning, text, length, &values, &diags);
  diag_print(&diags, "bench", 0, stderr);
  arena_free(&arena);
  if (!fine) exit(2);
  return values;
}

void bench_open(struct bench *b, bool wide, unsigned threads) {
  char none[PLUGIN_WHY_MAX];
  b->backend = cvl_backend_find(b->options->backend);
  if (!b->backend) b->backend = plugin_open(b->options->backend, none);
  if (!b->backend) vectors_give_up(b, none);
  b->elem_of[CLASS_INT] = wide ? CVL_I64 : CVL_I32;
  b->elem_of[CLASS_FLOAT] = wide ? CVL_F64 : CVL_F32;
  b->elem_of[CLASS_BOOL] = CVL_BOOL;
  b->threads = threads;
  const struct tuning tuning = tuning_of(b);
  const struct cvl_options options = {.int_elem = b->elem_of[CLASS_INT],
                                      .float_elem = b->elem_of[CLASS_FLOAT],
                                      .threads = threads,
                                      .device = -1,
                                      .tuning = &tuning,
                                      .compile = CVL_COMPILE_NONE};
  const char *why = "";
  b->context = b->backend->open(&options, &why);
  if (!b->context) vectors_give_up(b, why);
}

void bench_close(struct bench *b) {
  b->backend->close(b->context);
  b->context = NULL;
}

size_t elem_bytes(const struct bench *b, enum elem_class class) {
  return elem_info(b->elem_of[class])->bytes;
}

const char *elem_text(const struct bench *b, enum elem_class class) {
  return elem_info(b->elem_of[class])->text;
}

struct cvl_value vector_of(struct bench *b, enum elem_class class, uint64_t n,
                           const void *data) {
  struct cvl_value v;
  if (!b->backend->from_host(b->context, 0, b->elem_of[class], n, data, &v)) {
    vectors_give_up(b, "no memory for the operands");
  }
  return v;
}

void drop(struct bench *b, struct cvl_value *v) {
  if (v->form != CVL_NOTHING) b->backend->release(b->context, v);
  v->form = CVL_NOTHING;
}
