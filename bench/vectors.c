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

static _Noreturn void give_up(const struct bench *b, const char *what) {
  fprintf(stderr, "%s: %s\n", b->backend ? b->backend->name : b->options->backend, what);
  exit(1);
}

/* The values of --tuning; ends the program if there is something wrong with them. */
static struct tuning tuning_of(const struct bench *b) {
  enum { MOST = 1 << 16 };
  static char text[MOST];
  struct tuning values = {0};
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  FILE *in = b->options->tuning ? fopen(b->options->tuning, "re") : NULL;
  if (b->options->tuning && !in) give_up(b, "the file of --tuning cannot be read");
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
  if (!b->backend) give_up(b, none);
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
  if (!b->context) give_up(b, why);
}

void bench_close(struct bench *b) {
  b->backend->close(b->context);
  b->context = NULL;
}

int bench_main(int argc, char **argv, const char *name, size_t (*arena_size)(size_t wanted),
               void (*measure_all)(struct bench *)) {
  const struct measure_options o = measure_options(argc, argv);
  struct bench b = {.options = &o, .arena_bytes = arena_size(o.bytes)};
  b.arena = measure_memory(b.arena_bytes);
  b.report = report_open(&o, name);
  for (int wide = 0; wide < 2; wide++) {
    for (unsigned t = 0; t < o.thread_counts; t++) {
      if (wide ? !o.wide : !o.narrow) continue;
      bench_open(&b, wide, o.threads[t]);
      measure_all(&b);
      bench_close(&b);
    }
  }
  report_close(&b.report);
  return 0;
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
    give_up(b, "no memory for the operands");
  }
  return v;
}

struct filling {
  char *data;
  enum cvl_elem elem;
  uint64_t n, seed;
};

static void fill(void *arg, unsigned thread, unsigned threads) {
  const struct filling *f = arg;
  const uint64_t last = f->n * (thread + 1) / threads;
  for (uint64_t i = f->n * thread / threads; i < last; i++) {
    const uint64_t u = measure_random(f->seed, i);
    void *const element = f->data + i * elem_info(f->elem)->bytes;
    switch (f->elem) {
    case CVL_I32: *(int32_t *)element = (int32_t)(u >> 34) + 1; break;
    case CVL_I64: *(int64_t *)element = (int64_t)(u >> 34) + 1; break;
    case CVL_F32: *(float *)element = 0.1f + 0.9f * (float)(u >> 40) * 0x1p-24f; break;
    case CVL_F64: *(double *)element = 0.1 + 0.9 * (double)(u >> 11) * 0x1p-53; break;
    case CVL_BOOL: *(uint8_t *)element = (uint8_t)(u >> 63); break;
    case CVL_ELEM_COUNT: break;
    }
  }
}

struct cvl_value random_vector(struct bench *b, enum elem_class class, uint64_t n,
                               uint64_t seed) {
  struct filling f = {b->arena, b->elem_of[class], n, seed};
  if (n * elem_bytes(b, class) > b->arena_bytes) give_up(b, "the arena is too small");
  measure_parallel(b->options, fill, &f, b->threads);
  return vector_of(b, class, n, b->arena);
}

void drop(struct bench *b, struct cvl_value *v) {
  if (v->form != CVL_NOTHING) b->backend->release(b->context, v);
  v->form = CVL_NOTHING;
}

double seconds_of(struct bench *b, const struct work *w) {
  struct cvl_value out[2] = {{.form = CVL_NOTHING}, {.form = CVL_NOTHING}};
  struct cvl_error error = {.kind = CVL_E_NONE};
  const double start = measure_now(b->options, b->threads);
  const bool done = w->run(b, w, out);
  const bool fault = b->backend->check(b->context, true, &error);
  const double seconds = measure_now(b->options, b->threads) - start;
  if (!done || fault) {
    fprintf(stderr, "%s %s: fault of kind %d\n", w->name, w->detail, (int)error.kind);
    return -1.0;
  }
  drop(b, &out[0]);
  drop(b, &out[1]);
  return seconds;
}
