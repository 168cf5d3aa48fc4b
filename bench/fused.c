/* fused.c - superoperators on one back end against loops written by hand (fused-loops.c), in
 * one run, alternately; and the time of a small one, which is all overhead.
 *
 * The loops may reorder and contract; the superoperators give the bits of the specification.
 */
#include "bench/fused.h"

#include <stdlib.h>
#include <string.h>

#include "bench/targets.h"
#include "bench/vectors.h"
#include "fused-kernels/fused.h"

#define NORMAL(d, y, p, w)                                                                     \
  y " = (/ FLOAT @ $4 (+ FLOAT @ $4 (* FLOAT @ (DIST FLOAT @ (CONST FLOAT 0.2316419) $3) "     \
    "(SELECT FLOAT @ (< FLOAT @ " d " $5) (- FLOAT @ $5 " d ") " d "))))" p " = (* FLOAT @ " y \
    " (+ FLOAT @ (DIST FLOAT @ (CONST FLOAT 0.31938153) $3) "                                  \
    "(* FLOAT @ " y " (+ FLOAT @ (DIST FLOAT @ (CONST FLOAT -0.356563782) $3) "                \
    "(* FLOAT @ " y " (+ FLOAT @ (DIST FLOAT @ (CONST FLOAT 1.781477937) $3) "                 \
    "(* FLOAT @ " y " (+ FLOAT @ (DIST FLOAT @ (CONST FLOAT -1.821255978) $3) "                \
    "(* FLOAT @ " y " (DIST FLOAT @ (CONST FLOAT 1.330274429) $3))))))))))" w                  \
    " = (- FLOAT @ $4 (* FLOAT @ (* FLOAT @ (DIST FLOAT @ (CONST FLOAT 0.39894228040143267) "  \
    "$3) (EXP @ (* FLOAT @ (* FLOAT @ (DIST FLOAT @ (CONST FLOAT -0.5) $3) " d ") " d "))) " p \
    "))"
#define OF_NORMAL(d, w) "(SELECT FLOAT @ (< FLOAT @ " d " $5) (- FLOAT @ $4 " w ") " w ")"

static const struct kernel {
  const char *name, *text;
  void (*loop)(const struct fused_data *, int threads);
  double bytes;                                /* moved for each element, at least */
  enum { REPORTED, MEMORY, ARITHMETIC } bound; /* what limits the loop */
} kernels[] = {
    {"dot",
     "($0 : FLOAT, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES) = (+_REDUCE FLOAT @ (* FLOAT @ $0 $1) "
     "$3)",
     loop_dot, 16, MEMORY},
    {"saxpy",
     "($0 : FLOAT, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES) = (+ FLOAT @ (* FLOAT @ (DIST FLOAT @ "
     "(CONST FLOAT 2.5) $3) $0) $1)",
     loop_saxpy, 24, MEMORY},
    {"squares",
     "($0 : FLOAT, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES) = $4 = (- FLOAT @ $0 $1) $5 = "
     "(+_REDUCE FLOAT @ (* FLOAT @ $4 $4) $3) -> $5",
     loop_squares, 16, MEMORY},
    {"average",
     "($0 : FLOAT, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES, $4 : SEGDES) = "
     "$5 = (DIST INT @ (CONST INT 1) $3) "
     "$6 = (BPERMUTE FLOAT @ $0 (INDEX @ (CONST INT 0) (CONST INT 1) $3) $4 $3) "
     "$7 = (BPERMUTE FLOAT @ $0 (INDEX @ (CONST INT 1) (CONST INT 1) $3) $4 $3) "
     "$8 = (BPERMUTE FLOAT @ $0 (INDEX @ (CONST INT 2) (CONST INT 1) $3) $4 $3) "
     "$9 = (BPERMUTE FLOAT @ $0 (INDEX @ (CONST INT 3) (CONST INT 1) $3) $4 $3) "
     "$10 = (BPERMUTE FLOAT @ $0 (INDEX @ (CONST INT 4) (CONST INT 1) $3) $4 $3) "
     "$11 = (/ FLOAT @ (+ FLOAT @ (+ FLOAT @ (+ FLOAT @ (+ FLOAT @ $6 $7) $8) $9) $10) (DIST "
     "FLOAT @ (CONST FLOAT 5.0) $3)) -> $11",
     loop_average, 16, MEMORY},
    {"filter",
     "($0 : FLOAT, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES) = $4 = (* FLOAT @ $0 $1) $5 $6 = (PACK "
     "FLOAT @ $4 (> FLOAT @ $4 (DIST FLOAT @ (CONST FLOAT 0.25) $3)) $3) -> $5",
     loop_filter, 20, REPORTED},
    {"black-scholes",
     "($0 : FLOAT, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES) = "
     "$4 = (DIST FLOAT @ (CONST FLOAT 1.0) $3) $5 = (DIST FLOAT @ (CONST FLOAT 0.0) $3) "
     "$6 = (* FLOAT @ (DIST FLOAT @ (CONST FLOAT 0.3) $3) (SQRT @ $2)) "
     "$7 = (/ FLOAT @ (+ FLOAT @ (LOG @ (/ FLOAT @ $0 $1)) (* FLOAT @ (DIST FLOAT @ (CONST "
     "FLOAT 0.065) $3) $2)) $6) "
     "$8 = (- FLOAT @ $7 $6) " NORMAL("$7", "$9", "$10", "$11")
         NORMAL("$8", "$12", "$13", "$14") "$15 = (- FLOAT @ (* FLOAT @ $0 " OF_NORMAL(
             "$7", "$11") ") (* FLOAT @ (* FLOAT @ $1 (EXP @ (* FLOAT @ (DIST FLOAT @ (CONST "
                          "FLOAT -0.02) $3) $2))) " OF_NORMAL("$8", "$14") ")) -> $15",
     loop_black_scholes, 32, ARITHMETIC},
    {"sparse",
     "($0 : FLOAT, $1 : FLOAT, $2 : INT, $3 : SEGDES, $4 : SEGDES, $5 : SEGDES) = (+_REDUCE "
     "FLOAT @ (* FLOAT @ $0 (BPERMUTE FLOAT @ $1 $2 $4 $5)) $3)",
     loop_sparse, 24, MEMORY},
};

static const struct {
  int64_t n;
  const char *text;
} sizes[] = {{4 << 20, "4 Mi"}, {50000, "50000"}, {64, "64"}};

struct setting {
  struct bench *b;
  struct arena arena;
  struct fused_data data;
  struct cvl_value operands[6];
  const struct superop *op;
  struct cvl_kernel *made;
};

static _Noreturn void give_up(const char *what) {
  fprintf(stderr, "fused: %s\n", what);
  exit(1);
}

static const struct superop *parse(struct setting *s, const char *definition) {
  static const char program[] = "FUNC MAIN RET";
  const struct widths widths = {CVL_I64, CVL_F64};
  struct diag_list diags;
  diag_list_init(&diags, &s->arena);
  struct vcode_program *p =
      vcode_parse(&s->arena, "fused.c", program, strlen(program), widths, &diags);
  char *text = arena_printf(&s->arena, "fused OP0#1 %s", definition);
  vcode_parse_definitions(&s->arena, p, "fused.c", text, strlen(text), &diags);
  const struct superop *op =
      p->fused_count ? fused_parse(&s->arena, p, &p->fused[0], &diags) : NULL;
  if (!op) give_up(diags.list.count ? diags.list.items[0].message : "no definition");
  return op;
}

static double seconds(struct setting *s) {
  struct cvl_value outs[FUSED_RESULTS];
  const double start = measure_now(s->b->options, s->b->threads);
  const bool good = s->b->backend->run(s->b->context, 0, s->made, s->operands, outs);
  const double took = measure_now(s->b->options, s->b->threads) - start;
  if (!good) give_up("a fault");
  for (uint32_t i = 0; i < s->op->output_count; i++) drop(s->b, &outs[i]);
  return took;
}

/* At most so many times the loop; 0 if that is only reported. */
static double target(const struct kernel *k, const char *native) {
  switch (k->bound) {
  case REPORTED: return 0.0;
  case MEMORY: return TARGET_FUSED_MEMORY;
  case ARITHMETIC: return native ? TARGET_FUSED_COMPILED : TARGET_FUSED_ARITHMETIC;
  }
  return 0.0;
}

static double loop_seconds(struct setting *s, const struct kernel *k) {
  const double start = measure_now(s->b->options, s->b->threads);
  k->loop(&s->data, (int)s->b->threads);
  return measure_now(s->b->options, s->b->threads) - start;
}

/* Operands of n elements; those of a sparse matrix with 1 to 61 elements in a row. */
static void make_operands(struct setting *s, const struct kernel *k, int64_t n) {
  struct bench *b = s->b;
  struct fused_data *d = &s->data;
  const size_t room = ((size_t)n + 64) * sizeof(double);
  double *x[3];
  for (int i = 0; i < 3; i++) {
    x[i] = measure_memory(room);
    for (int64_t j = 0; j < n + 4; j++) {
      x[i][j] = 0.1 + 0.9 * (double)(measure_random((uint64_t)i, (uint64_t)j) >> 11) * 0x1p-53;
    }
    d->in[i] = x[i];
  }
  for (int i = 0; i < FUSED_RESULTS; i++) d->out[i] = measure_memory(room);
  d->n = n;
  const bool sparse = strcmp(k->name, "sparse") == 0;
  const uint64_t longer = (uint64_t)n + (strcmp(k->name, "average") == 0 ? 4 : 0);
  s->operands[0] = vector_of(b, CLASS_FLOAT, longer, x[0]);
  s->operands[1] = vector_of(b, CLASS_FLOAT, (uint64_t)n, x[1]);
  s->operands[2] = vector_of(b, CLASS_FLOAT, (uint64_t)n, x[2]);
  s->operands[3] = cvl_one_segment((uint64_t)n);
  s->operands[4] = cvl_one_segment(longer);
  if (!sparse) return;
  int64_t *column = measure_memory(room), *start = measure_memory(room);
  int64_t *lengths = measure_memory(room), rows = 0, total = 0;
  for (; total < n; rows++) {
    lengths[rows] = rows * 7919 % 61 + 1;
    if (lengths[rows] > n - total) lengths[rows] = n - total;
    start[rows] = total;
    total += lengths[rows];
  }
  start[rows] = n;
  for (int64_t i = 0; i < n; i++) column[i] = i * 7919 % rows;
  d->rows = rows;
  d->column = column;
  d->start = start;
  drop(b, &s->operands[1]);
  drop(b, &s->operands[2]);
  s->operands[1] = vector_of(b, CLASS_FLOAT, (uint64_t)rows, x[1]);
  s->operands[2] = vector_of(b, CLASS_INT, (uint64_t)n, column);
  s->operands[3] = segments_of(b, (uint64_t)rows, lengths);
  s->operands[4] = cvl_one_segment((uint64_t)rows);
  s->operands[5] = cvl_one_segment((uint64_t)n);
}

static void measure(struct bench *b, const struct kernel *k, int64_t n, const char *detail) {
  if (!measure_wants(b->options, k->name)) return;
  struct heap heap;
  struct setting s = {.b = b};
  heap_init(&heap, 0);
  arena_init(&s.arena, &heap);
  s.op = parse(&s, k->text);
  s.made = b->backend->prepare(b->context, s.op);
  if (!s.made) give_up("the back end would rather not");
  make_operands(&s, k, n);
  double time[MOST_ROUNDS], limit[MOST_ROUNDS];
  /* Small ones many times over: a clock is not that fine. */
  const unsigned times = n < 10000 ? 20000 : n < 1000000 ? 20 : 1;
  for (unsigned i = 0; i < 2; i++) {
    seconds(&s);
    loop_seconds(&s, k);
  }
  for (unsigned i = 0; i < b->options->rounds; i++) {
    time[i] = limit[i] = 0;
    for (unsigned j = 0; j < times; j++) time[i] += seconds(&s) / times;
    for (unsigned j = 0; j < times; j++) limit[i] += loop_seconds(&s, k) / times;
  }
  report_line(&b->report,
              &(struct report_line){.name = k->name,
                                    .detail = detail,
                                    .elem = "f64",
                                    .threads = b->threads,
                                    .rounds = b->options->rounds,
                                    .bytes = k->bytes * (double)n,
                                    .time = time,
                                    .limit = limit,
                                    .target = n < 1000000 ? 0 : target(k, b->native),
                                    .at_most = true});
  for (int i = 0; i < 6; i++) drop(b, &s.operands[i]);
  b->backend->discard(b->context, s.made);
  arena_free(&s.arena);
}

static void measure_all(struct bench *b, const char *native) {
  char detail[64];
  b->native = native;
  for (unsigned t = 0; t < b->options->thread_counts; t++) {
    bench_open(b, true, b->options->threads[t]);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
      for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        snprintf(detail, sizeof detail, "%s%s", sizes[n].text, native ? " native" : "");
        measure(b, &kernels[i], sizes[n].n, detail);
      }
    }
    bench_close(b);
  }
}

int main(int argc, char **argv) {
  const struct measure_options o = measure_options(argc, argv);
  struct bench b = {.options = &o};
  b.report = report_open(&o, "fused");
  measure_all(&b, NULL);
  char directory[] = "/tmp/ravel-bench-XXXXXX", command[64];
  if (!mkdtemp(directory)) give_up("no directory for compiled code");
  measure_all(&b, directory);
  snprintf(command, sizeof command, "rm -r %s", directory);
  if (system(command) != 0) give_up("cannot remove the compiled code");
  report_close(&b.report);
  return 0;
}
