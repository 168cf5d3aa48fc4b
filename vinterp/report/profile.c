/* profile.c - counting, and the tables of counts. */
#include "vinterp/report/profile.h"
#include "base/intern.h"
#include "base/number.h"
#include "vinterp/report/json.h"
#include <stdlib.h>
#include <string.h>

/* The sums of a group of instructions. */
struct counts {
  uint64_t instructions, read, written, bytes, steps, passes;
  double seconds;
};

/* Calls of a function that were cut into chunks. */
struct row_cuts {
  uint64_t calls, bound[CHUNK_BOUNDS]; /* how many of them each bound has limited */
  struct cut_counts counts;            /* sums of all chunks */
};

/* Calls of a function that native code has executed, and those that it has given up. */
struct row_native {
  uint64_t calls, instances, given_up;
  double seconds; /* of both */
};

/* A function, or a superoperator. */
struct row {
  const char *name; /* for a superoperator the full description: "OP3 split: pack: v * w" */
  struct profile_superop superop; /* set for a superoperator */
  uint64_t calls;
  struct counts counts;
  struct row_cuts cuts; /* for a function: its calls that were cut */
  struct row_native native;
};

/* Rows by name; row 0 is "(other)". */
struct rows {
  struct arena arena;
  struct intern names;
  ARRAY(struct row) list;
};

enum { TYPE_WORDS = TW_NONE + 1, NAME_BYTES = 1024 };

struct profile {
  struct heap *heap;
  struct counts opcodes[OPC_COUNT][TYPE_WORDS];
  struct counts total;
  struct rows functions, superops;
  struct map known; /* rows of superoperators by key, plus 1 */
  const char *backend;
  const char *tuned; /* where the tuning values are from; NULL: they are the defaults */
  bool instructions; /* whether instructions are counted */
  uint64_t runs;
  double elapsed;
  struct cvl_statistics before, statistics; /* `statistics` counts from `before` on */
};

/* ---- rows ---- */

static void rows_init(struct rows *rows, struct heap *heap) {
  arena_init(&rows->arena, heap);
  intern_init(&rows->names, &rows->arena);
}

/* Returns the row of a name, made if it is new; 0 if memory runs out. */
static uint32_t profile_row_of(struct rows *rows, const char *text) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return 0;
  const struct name *name = intern_name(&rows->names, text, strlen(text));
  while (rows->list.count <= name->number) {
    const struct name *next = rows->names.names.items[rows->list.count];
    array_push(&rows->arena, &rows->list)->name = next->text;
  }
  memory_guard_end(&guard);
  return name->number;
}

/* ---- counting ---- */

struct profile *profile_new(struct heap *heap, const char *backend, bool instructions) {
  struct profile *p = heap_alloc(heap, sizeof *p);
  if (!p) return NULL;
  memset(p, 0, sizeof *p);
  p->heap = heap;
  p->backend = backend;
  p->instructions = instructions;
  rows_init(&p->functions, heap);
  rows_init(&p->superops, heap);
  map_init(&p->known, &p->superops.arena);
  profile_row_of(&p->functions, "(other)");
  profile_row_of(&p->superops, "(other)");
  if (p->functions.list.count == 1 && p->superops.list.count == 1) return p;
  profile_free(p);
  return NULL;
}

void profile_free(struct profile *p) {
  if (!p) return;
  arena_free(&p->functions.arena);
  arena_free(&p->superops.arena);
  heap_free(p->heap, p, sizeof *p);
}

void profile_tuned(struct profile *p, const char *from) {
  p->tuned = from;
}

static void clear_rows(struct rows *rows) {
  for (uint32_t i = 0; i < rows->list.count; i++) {
    rows->list.items[i].calls = 0;
    rows->list.items[i].counts = (struct counts){0};
    rows->list.items[i].cuts = (struct row_cuts){0};
    rows->list.items[i].native = (struct row_native){0};
  }
}

void profile_begin(struct profile *p, const struct cvl_statistics *now) {
  memset(p->opcodes, 0, sizeof p->opcodes);
  p->total = (struct counts){0};
  p->runs = 0;
  p->elapsed = 0;
  p->before = *now;
  p->statistics = (struct cvl_statistics){0};
  clear_rows(&p->functions);
  clear_rows(&p->superops);
}

uint32_t profile_function(struct profile *p, const char *name) {
  return profile_row_of(&p->functions, name);
}

static void describe_row(struct rows *rows, uint32_t number, const struct profile_superop *s) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return; /* it is not described */
  struct arena *a = &rows->arena;
  rows->list.items[number].superop =
      (struct profile_superop){s->number, arena_copy(a, s->compiled, strlen(s->compiled)),
                               arena_copy(a, s->reasons, strlen(s->reasons)),
                               arena_copy(a, s->formula, strlen(s->formula))};
  memory_guard_end(&guard);
}

uint32_t profile_superop(struct profile *p, const struct profile_superop *s) {
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "OP%u %s: %s: %s", s->number, s->compiled, s->reasons,
           s->formula);
  const uint32_t row = profile_row_of(&p->superops, name);
  if (row > 0 && !p->superops.list.items[row].superop.formula)
    describe_row(&p->superops, row, s);
  return row;
}

bool profile_superop_known(const struct profile *p, uint64_t key, uint32_t *row) {
  const uint32_t found = map_get(&p->known, key);
  *row = found > 0 ? found - 1 : 0;
  return found > 0;
}

void profile_superop_remember(struct profile *p, uint64_t key, uint32_t row) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return; /* it is classified again next time */
  *map_at(&p->known, key) = row + 1;
  memory_guard_end(&guard);
}

void profile_call(struct profile *p, uint32_t function) {
  p->functions.list.items[function].calls++;
}

void profile_cut(struct profile *p, uint32_t function, const struct cut_counts *c,
                 enum chunk_bound bound) {
  struct row_cuts *cuts = &p->functions.list.items[function].cuts;
  struct cut_counts *all = &cuts->counts;
  if (cuts->calls == 0 || c->least < all->least) all->least = c->least;
  if (c->most > all->most) all->most = c->most;
  if (c->peak > all->peak) all->peak = c->peak;
  if (c->threads > all->threads) all->threads = c->threads;
  all->chunks += c->chunks;
  cuts->calls++;
  cuts->bound[bound]++;
}

void profile_procedure(struct profile *p, uint32_t function, uint64_t instances, double seconds,
                       bool done) {
  struct row_native *native = &p->functions.list.items[function].native;
  native->calls += done;
  native->instances += done ? instances : 0;
  native->given_up += !done;
  native->seconds += seconds;
}

static uint64_t steps_of(const struct profile_entry *e) {
  if (!opcode_class_info(opcode_info(e->op)->klass)->log_steps) return 1;
  uint64_t steps = 0;
  for (uint64_t n = e->over; n > 1; n = n / 2 + n % 2) steps++;
  return steps > 0 ? steps : 1;
}

static void machine_profile_add(struct counts *to, const struct counts *x) {
  to->instructions += x->instructions;
  to->read += x->read;
  to->written += x->written;
  to->bytes += x->bytes;
  to->steps += x->steps;
  to->passes += x->passes;
  to->seconds += x->seconds;
}

void profile_instruction(struct profile *p, uint32_t function, const struct profile_entry *e) {
  const struct counts one = {.instructions = 1,
                             .read = e->read,
                             .written = e->written,
                             .bytes = e->bytes,
                             .steps = steps_of(e),
                             .passes = e->passes,
                             .seconds = e->seconds};
  machine_profile_add(&p->opcodes[e->op][e->type], &one);
  machine_profile_add(&p->functions.list.items[function].counts, &one);
  if (e->op == OPC_FUSED) machine_profile_add(&p->superops.list.items[e->superop].counts, &one);
  machine_profile_add(&p->total, &one);
}

static void add_cuts(struct row_cuts *to, const struct row_cuts *x) {
  if (x->calls == 0) return;
  if (to->calls == 0 || x->counts.least < to->counts.least) to->counts.least = x->counts.least;
  if (x->counts.most > to->counts.most) to->counts.most = x->counts.most;
  if (x->counts.peak > to->counts.peak) to->counts.peak = x->counts.peak;
  to->counts.chunks += x->counts.chunks;
  to->calls += x->calls;
  for (unsigned k = 0; k < CHUNK_BOUNDS; k++) to->bound[k] += x->bound[k];
}

static void add_native(struct row_native *to, const struct row_native *x) {
  to->calls += x->calls;
  to->instances += x->instances;
  to->given_up += x->given_up;
  to->seconds += x->seconds;
}

static void add_row(struct row *to, const struct row *x) {
  to->calls += x->calls;
  machine_profile_add(&to->counts, &x->counts);
  add_cuts(&to->cuts, &x->cuts);
  add_native(&to->native, &x->native);
}

static void add_functions(struct profile *to, const struct profile *x) {
  for (uint32_t i = 0; i < x->functions.list.count; i++) {
    const struct row *row = &x->functions.list.items[i];
    if (row->calls == 0 && row->counts.instructions == 0) continue;
    add_row(&to->functions.list.items[profile_row_of(&to->functions, row->name)], row);
  }
}

static void add_superops(struct profile *to, const struct profile *x) {
  for (uint32_t i = 0; i < x->superops.list.count; i++) {
    const struct row *row = &x->superops.list.items[i];
    if (row->counts.instructions == 0) continue;
    const uint32_t k = row->superop.formula ? profile_superop(to, &row->superop) : 0;
    add_row(&to->superops.list.items[k], row);
  }
}

void profile_add(struct profile *to, struct profile *x) {
  const struct cvl_statistics none = {0};
  for (unsigned op = 0; op < OPC_COUNT; op++) {
    for (unsigned type = 0; type < TYPE_WORDS; type++)
      machine_profile_add(&to->opcodes[op][type], &x->opcodes[op][type]);
  }
  machine_profile_add(&to->total, &x->total);
  add_functions(to, x);
  add_superops(to, x);
  profile_begin(x, &none);
}

void profile_run(struct profile *p, double seconds, const struct cvl_statistics *statistics) {
  p->runs++;
  p->elapsed += seconds;
  p->statistics = *statistics;
  p->statistics.waits -= p->before.waits;
  p->statistics.launches -= p->before.launches;
  p->statistics.bytes_up -= p->before.bytes_up;
  p->statistics.bytes_down -= p->before.bytes_down;
  p->statistics.kernel_ns -= p->before.kernel_ns;
  p->statistics.launch_ns -= p->before.launch_ns;
  p->statistics.wait_ns -= p->before.wait_ns;
  p->statistics.collectives -= p->before.collectives;
  p->statistics.messages -= p->before.messages;
  p->statistics.sent_bytes -= p->before.sent_bytes;
}

/* ---- order ---- */

enum line_kind { OPCODE_LINE, FUNCTION_LINE, SUPEROP_LINE };

/* A line of a table. */
struct line {
  const char *name;
  const struct profile_superop *superop; /* NULL for other lines */
  const char *type;                      /* type word of an opcode; "" if it has none */
  enum line_kind kind;
  uint64_t calls;
  const struct counts *counts;
};

struct lines {
  struct line *items; /* NULL if memory ran out: the table is left out */
  size_t count;
};

/* Puts most time first, then most work, then sorts by name, so that the order is reproducible.
 */
static int compare_lines(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  if (x->counts->seconds != y->counts->seconds) {
    return x->counts->seconds < y->counts->seconds ? 1 : -1;
  }
  uint64_t xs = x->counts->read + x->counts->written, ys = y->counts->read + y->counts->written;
  if (xs != ys) return xs < ys ? 1 : -1;
  int names = strcmp(x->name, y->name);
  return names ? names : strcmp(x->type, y->type);
}

static struct lines opcode_lines(const struct profile *p) {
  struct lines lines = {.items =
                            heap_alloc(p->heap, OPC_COUNT * TYPE_WORDS * sizeof(struct line))};
  for (unsigned op = 0; op < OPC_COUNT && lines.items; op++) {
    for (unsigned type = 0; type < TYPE_WORDS; type++) {
      const struct counts *c = &p->opcodes[op][type];
      if (c->instructions == 0) continue;
      lines.items[lines.count++] = (struct line){.name = opcode_info((enum opcode)op)->spelling,
                                                 .type = type_word_text((enum type_word)type),
                                                 .kind = OPCODE_LINE,
                                                 .calls = c->instructions,
                                                 .counts = c};
    }
  }
  if (lines.items) qsort(lines.items, lines.count, sizeof *lines.items, compare_lines);
  return lines;
}

static struct lines row_lines(const struct profile *p, const struct rows *rows,
                              enum line_kind kind) {
  struct lines lines = {.items = heap_alloc(p->heap, rows->list.count * sizeof(struct line))};
  for (uint32_t i = 0; i < rows->list.count && lines.items; i++) {
    const struct row *row = &rows->list.items[i];
    if (row->calls == 0 && row->counts.instructions == 0) continue;
    lines.items[lines.count++] =
        (struct line){.name = row->name,
                      .superop = row->superop.formula ? &row->superop : NULL,
                      .type = "",
                      .kind = kind,
                      .calls = kind == FUNCTION_LINE ? row->calls : row->counts.instructions,
                      .counts = &row->counts};
  }
  if (lines.items) qsort(lines.items, lines.count, sizeof *lines.items, compare_lines);
  return lines;
}

/* ---- text ---- */

static const double second_ns = 1e9;

static double gigabytes_per_second(const struct counts *c) {
  return c->seconds > 0 ? (double)c->bytes / c->seconds / 1e9 : 0;
}

/* Returns whether superoperators ran on the host, as compiled functions do. */
static bool on_host(const struct profile *p) {
  return p->statistics.launches == 0;
}

/* Prints the end of a line: "  [split: INDEX, 2 pack] v * w". */
static void print_superop(const struct profile *p, FILE *out, const struct profile_superop *s) {
  if (on_host(p)) {
    fprintf(out, "  [%s%s%s]", s->compiled, *s->reasons ? ": " : "", s->reasons);
  }
  fprintf(out, " %s", s->formula);
}

/* The number of a superoperator is in the column of names, its description at the end of the
 * line. */
static void print_table(const struct profile *p, FILE *out, const char *title,
                        const struct lines *lines) {
  fprintf(out, "\n%-28s %12s %16s %10s %12s %7s %8s\n", title, "calls", "elements", "bytes",
          "seconds", "share", "GB/s");
  for (size_t i = 0; i < lines->count; i++) {
    const struct line *line = &lines->items[i];
    const struct counts *c = line->counts;
    size_t shown = line->superop ? strcspn(line->name, " ") : strlen(line->name);
    char name[64], bytes[NUMBER_TEXT_MAX];
    snprintf(name, sizeof name, "%.*s%s%s", (int)shown, line->name, *line->type ? " " : "",
             line->type);
    format_bytes(bytes, c->bytes);
    double share = p->total.seconds > 0 ? 100 * c->seconds / p->total.seconds : 0;
    fprintf(out, "%-28s %12llu %16llu %10s %12.6f %6.1f%% %8.2f", name,
            (unsigned long long)line->calls, (unsigned long long)(c->read + c->written), bytes,
            c->seconds, share, gigabytes_per_second(c));
    if (line->superop) print_superop(p, out, line->superop);
    fputc('\n', out);
  }
}

static const char *const bound_text[CHUNK_BOUNDS] = {[CHUNK_FORCED] = "--chunks",
                                                     [CHUNK_BUDGET] = "budget",
                                                     [CHUNK_LIMIT] = "memory limit",
                                                     [CHUNK_DISTRIBUTED] = "ranks"};

/* Returns what limited most calls of a function that were cut. */
static const char *main_bound(const struct row_cuts *cuts) {
  unsigned most = 0;
  for (unsigned k = 1; k < CHUNK_BOUNDS; k++) {
    if (cuts->bound[k] > cuts->bound[most]) most = k;
  }
  return bound_text[most];
}

static unsigned profile_threads_of(const struct cut_counts *c) {
  return c->threads > 0 ? c->threads : 1;
}

/* Prints a line for each function with calls that were cut; nothing if there are none. */
static void print_cuts(const struct profile *p, FILE *out) {
  bool title = false;
  for (uint32_t i = 0; i < p->functions.list.count; i++) {
    const struct row *row = &p->functions.list.items[i];
    const struct row_cuts *cuts = &row->cuts;
    char peak[NUMBER_TEXT_MAX];
    if (cuts->calls == 0) continue;
    if (!title) {
      fprintf(out, "\n%-28s %12s %12s %12s %12s %10s %8s  %s\n", "calls in chunks", "calls",
              "chunks", "least", "most", "peak", "threads", "bound by");
    }
    title = true;
    format_bytes(peak, cuts->counts.peak);
    fprintf(out, "%-28s %12llu %12llu %12llu %12llu %10s %8u  %s\n", row->name,
            (unsigned long long)cuts->calls, (unsigned long long)cuts->counts.chunks,
            (unsigned long long)cuts->counts.least, (unsigned long long)cuts->counts.most, peak,
            profile_threads_of(&cuts->counts), main_bound(cuts));
  }
}

static bool was_native(const struct row *row) {
  return row->native.calls + row->native.given_up > 0;
}

/* Prints a line for each function whose calls native code has executed, or given up. */
static void print_native(const struct profile *p, FILE *out) {
  bool title = false;
  for (uint32_t i = 0; i < p->functions.list.count; i++) {
    const struct row *row = &p->functions.list.items[i];
    const struct row_native *n = &row->native;
    if (!was_native(row)) continue;
    if (!title) {
      fprintf(out, "\n%-28s %12s %12s %12s %12s\n", "procedures", "calls", "instances",
              "seconds", "given up");
    }
    title = true;
    fprintf(out, "%-28s %12llu %12llu %12.6f %12llu\n", row->name, (unsigned long long)n->calls,
            (unsigned long long)n->instances, n->seconds, (unsigned long long)n->given_up);
  }
}

/* The tables in the order in which they are printed. */
enum { OPCODE_TABLE, SUPEROP_TABLE, FUNCTION_TABLE, TABLES };

/* Prints what the back end did besides computing on the host; nothing if it did nothing. */
static void print_device(const struct profile *p, FILE *out) {
  if (p->tuned) fprintf(out, "tuning values of %s\n", p->tuned);
  const struct cvl_statistics *s = &p->statistics;
  if (!(s->launches | s->waits | s->bytes_up | s->bytes_down)) return;
  char up[NUMBER_TEXT_MAX], down[NUMBER_TEXT_MAX], held[NUMBER_TEXT_MAX];
  format_bytes(up, s->bytes_up);
  format_bytes(down, s->bytes_down);
  format_bytes(held, s->held_bytes);
  fprintf(out,
          "back end %s: launches %llu, waits %llu; bytes up %s, down %s, held %s\n"
          "in kernels %.6f s, launching %.6f s, waiting %.6f s\n",
          p->backend, (unsigned long long)s->launches, (unsigned long long)s->waits, up, down,
          held, (double)s->kernel_ns / second_ns, (double)s->launch_ns / second_ns,
          (double)s->wait_ns / second_ns);
}

/* Prints what this process sent to others of its job; nothing if it is alone. */
static void print_sent(const struct profile *p, FILE *out) {
  const struct cvl_statistics *s = &p->statistics;
  char bytes[NUMBER_TEXT_MAX];
  if (!(s->collectives | s->messages)) return;
  format_bytes(bytes, s->sent_bytes);
  fprintf(out, "sent to other ranks: collectives %llu, messages %llu, in all %s\n",
          (unsigned long long)s->collectives, (unsigned long long)s->messages, bytes);
}

static void print_tables(const struct profile *p, FILE *out, const struct lines *tables) {
  char peak[NUMBER_TEXT_MAX];
  format_bytes(peak, p->statistics.peak_bytes);
  const struct counts *t = &p->total;
  if (!p->instructions) {
    fprintf(out, "elapsed %.6f s; peak memory %s\n", p->elapsed, peak);
    print_device(p, out);
    print_sent(p, out);
    print_cuts(p, out);
    print_native(p, out);
    return;
  }
  fprintf(out,
          "instructions %llu, work %llu, steps %llu\n"
          "elementwise passes over memory %llu\n"
          "elapsed %.6f s, of it in instructions %.6f s; peak memory %s\n",
          (unsigned long long)t->instructions, (unsigned long long)(t->read + t->written),
          (unsigned long long)t->steps, (unsigned long long)t->passes, p->elapsed, t->seconds,
          peak);
  print_device(p, out);
  print_sent(p, out);
  print_table(p, out, "opcode", &tables[OPCODE_TABLE]);
  if (tables[SUPEROP_TABLE].count > 0)
    print_table(p, out, "superoperator", &tables[SUPEROP_TABLE]);
  print_table(p, out, "function (without callees)", &tables[FUNCTION_TABLE]);
  print_cuts(p, out);
  print_native(p, out);
}

/* ---- JSON ---- */

static void json_counts(FILE *out, const struct counts *c) {
  fprintf(out,
          "\"read\": %llu, \"written\": %llu, \"work\": %llu, \"steps\": %llu, "
          "\"bytes\": %llu, \"passes\": %llu, ",
          (unsigned long long)c->read, (unsigned long long)c->written,
          (unsigned long long)(c->read + c->written), (unsigned long long)c->steps,
          (unsigned long long)c->bytes, (unsigned long long)c->passes);
  json_number(out, "seconds", c->seconds);
}

static void json_superop(FILE *out, const struct profile_superop *s, bool host) {
  fprintf(out, "\"number\": %u, \"formula\": ", s->number);
  json_string(out, s->formula);
  if (!host) return;
  fputs(", \"compiled\": ", out);
  json_string(out, s->compiled);
  fputs(", \"reasons\": ", out);
  json_string(out, s->reasons);
}

/* Prints "opcode" and "type"; or "number", "formula" and so on; or "name". */
static void json_name(FILE *out, const struct line *line, bool host) {
  switch (line->kind) {
  case SUPEROP_LINE:
    if (!line->superop) break;
    json_superop(out, line->superop, host);
    return;
  case OPCODE_LINE:
    fputs("\"opcode\": ", out);
    json_string(out, line->name);
    if (*line->type) fprintf(out, ", \"type\": \"%s\"", line->type);
    return;
  case FUNCTION_LINE: break;
  }
  fputs("\"name\": ", out);
  json_string(out, line->name);
}

static void json_lines(const struct profile *p, FILE *out, const char *key,
                       const struct lines *lines) {
  fprintf(out, " \"%s\": [", key);
  for (size_t i = 0; i < lines->count; i++) {
    const struct line *line = &lines->items[i];
    fprintf(out, "%s\n  {", i ? "," : "");
    json_name(out, line, on_host(p));
    fprintf(out, ", \"calls\": %llu, ", (unsigned long long)line->calls);
    if (line->kind == FUNCTION_LINE) {
      fprintf(out, "\"instructions\": %llu, ", (unsigned long long)line->counts->instructions);
    }
    json_counts(out, line->counts);
    fputc('}', out);
  }
  fputs("]", out);
}

static void json_cuts(const struct profile *p, FILE *out) {
  const char *separator = "";
  fputs(",\n \"chunks\": [", out);
  for (uint32_t i = 0; i < p->functions.list.count; i++) {
    const struct row *row = &p->functions.list.items[i];
    const struct cut_counts *c = &row->cuts.counts;
    if (row->cuts.calls == 0) continue;
    fprintf(out, "%s\n  {\"name\": ", separator);
    json_string(out, row->name);
    fprintf(out,
            ", \"calls\": %llu, \"chunks\": %llu, \"least\": %llu, \"most\": %llu, "
            "\"peak_bytes\": %llu, \"threads\": %u, \"bound\": \"%s\"}",
            (unsigned long long)row->cuts.calls, (unsigned long long)c->chunks,
            (unsigned long long)c->least, (unsigned long long)c->most,
            (unsigned long long)c->peak, profile_threads_of(c), main_bound(&row->cuts));
    separator = ",";
  }
  fputs("]", out);
}

static void json_native(const struct profile *p, FILE *out) {
  const char *separator = "";
  fputs(",\n \"procedures\": [", out);
  for (uint32_t i = 0; i < p->functions.list.count; i++) {
    const struct row *row = &p->functions.list.items[i];
    const struct row_native *n = &row->native;
    if (!was_native(row)) continue;
    fprintf(out, "%s\n  {\"name\": ", separator);
    json_string(out, row->name);
    fprintf(out, ", \"calls\": %llu, \"instances\": %llu, \"given_up\": %llu, ",
            (unsigned long long)n->calls, (unsigned long long)n->instances,
            (unsigned long long)n->given_up);
    json_number(out, "seconds", n->seconds);
    fputs("}", out);
    separator = ",";
  }
  fputs("]", out);
}

/* Prints the same keys for every back end. */
static void json_device(const struct profile *p, FILE *out) {
  const struct cvl_statistics *s = &p->statistics;
  fputs(" \"backend\": ", out);
  json_string(out, p->backend);
  if (p->tuned) {
    fputs(", \"tuning\": ", out);
    json_string(out, p->tuned);
  }
  fprintf(out,
          ", \"launches\": %llu, \"waits\": %llu, \"bytes_up\": %llu, \"bytes_down\": %llu, ",
          (unsigned long long)s->launches, (unsigned long long)s->waits,
          (unsigned long long)s->bytes_up, (unsigned long long)s->bytes_down);
  fprintf(out, "\"held_bytes\": %llu, ", (unsigned long long)s->held_bytes);
  json_number(out, "kernel_seconds", (double)s->kernel_ns / second_ns);
  fputs(", ", out);
  json_number(out, "launch_seconds", (double)s->launch_ns / second_ns);
  fputs(", ", out);
  json_number(out, "wait_seconds", (double)s->wait_ns / second_ns);
  fprintf(out, ", \"collectives\": %llu, \"messages\": %llu, \"sent_bytes\": %llu",
          (unsigned long long)s->collectives, (unsigned long long)s->messages,
          (unsigned long long)s->sent_bytes);
}

static void print_json(const struct profile *p, FILE *out, const struct lines *tables) {
  fprintf(out, "{\"runs\": %llu, ", (unsigned long long)p->runs);
  if (p->instructions) {
    fprintf(out, "\"instructions\": %llu, ", (unsigned long long)p->total.instructions);
    json_counts(out, &p->total);
    fputs(", ", out);
  }
  json_number(out, "elapsed", p->elapsed);
  fprintf(out, ", \"peak_bytes\": %llu,\n", (unsigned long long)p->statistics.peak_bytes);
  json_device(p, out);
  json_cuts(p, out);
  json_native(p, out);
  if (!p->instructions) {
    fputs("}\n", out);
    return;
  }
  fputs(",\n", out);
  json_lines(p, out, "opcodes", &tables[OPCODE_TABLE]);
  fputs(",\n", out);
  json_lines(p, out, "superoperators", &tables[SUPEROP_TABLE]);
  fputs(",\n", out);
  json_lines(p, out, "functions", &tables[FUNCTION_TABLE]);
  fputs("}\n", out);
}

struct machine_totals profile_totals(const struct profile *p) {
  return (struct machine_totals){.instructions = p->total.instructions,
                                 .work = p->total.read + p->total.written,
                                 .steps = p->total.steps,
                                 .seconds = p->elapsed};
}

void profile_print(const struct profile *p, FILE *out, bool json) {
  struct lines tables[TABLES] = {
      [OPCODE_TABLE] = opcode_lines(p),
      [SUPEROP_TABLE] = row_lines(p, &p->superops, SUPEROP_LINE),
      [FUNCTION_TABLE] = row_lines(p, &p->functions, FUNCTION_LINE),
  };
  (json ? print_json : print_tables)(p, out, tables);
  heap_free(p->heap, tables[OPCODE_TABLE].items, OPC_COUNT * TYPE_WORDS * sizeof(struct line));
  heap_free(p->heap, tables[SUPEROP_TABLE].items, p->superops.list.count * sizeof(struct line));
  heap_free(p->heap, tables[FUNCTION_TABLE].items,
            p->functions.list.count * sizeof(struct line));
}
