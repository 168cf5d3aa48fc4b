/* profile.c - counting and the tables made of it. */
#include "vinterp/profile.h"
#include "base/number.h"
#include <stdlib.h>
#include <string.h>

/* The sums of a group of instructions. */
struct counts {
  uint64_t instructions, read, written, bytes, steps;
  double seconds;
};

struct function_row {
  char *name; /* owned */
  uint64_t calls;
  struct counts counts;
};

enum { TYPE_WORDS = TW_NONE + 1 };

struct profile {
  struct heap *heap;
  struct counts opcodes[OPC_COUNT][TYPE_WORDS];
  struct counts total;
  struct function_row *functions; /* row 0: "(other)" */
  uint32_t count, capacity;
  uint32_t *slots; /* hash table of rows by name; 0: free; twice as long as functions */
  uint64_t runs, peak_bytes;
  double elapsed;
};

/* ---- counting ---- */

struct profile *profile_new(struct heap *heap) {
  struct profile *p = heap_alloc(heap, sizeof *p);
  if (!p) return NULL;
  memset(p, 0, sizeof *p);
  p->heap = heap;
  profile_function(p, "(other)");
  if (p->count == 1) return p;
  profile_free(p);
  return NULL;
}

void profile_free(struct profile *p) {
  if (!p) return;
  for (uint32_t i = 0; i < p->count; i++) {
    heap_free(p->heap, p->functions[i].name, strlen(p->functions[i].name) + 1);
  }
  heap_free(p->heap, p->functions, p->capacity * sizeof *p->functions);
  heap_free(p->heap, p->slots, 2 * (size_t)p->capacity * sizeof *p->slots);
  heap_free(p->heap, p, sizeof *p);
}

/* Where a name is or belongs (FNV-1a, linear probing); the table is never full. */
static uint32_t *find_slot(const struct profile *p, const char *name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
  uint32_t mask = 2 * p->capacity - 1;
  uint32_t i = (uint32_t)(hash ^ hash >> 32) & mask;
  while (p->slots[i] && strcmp(p->functions[p->slots[i]].name, name) != 0) i = (i + 1) & mask;
  return &p->slots[i];
}

/* Doubles the table of functions; false: no memory, nothing changed. */
static bool grow(struct profile *p) {
  uint32_t wanted = p->capacity ? p->capacity * 2 : 64;
  size_t slot_bytes = 2 * (size_t)wanted * sizeof *p->slots;
  uint32_t *slots = heap_alloc(p->heap, slot_bytes);
  if (!slots) return false;
  void *functions = heap_grow(p->heap, p->functions, p->capacity * sizeof *p->functions,
                              wanted * sizeof *p->functions);
  if (!functions) {
    heap_free(p->heap, slots, slot_bytes);
    return false;
  }
  heap_free(p->heap, p->slots, 2 * (size_t)p->capacity * sizeof *p->slots);
  memset(slots, 0, slot_bytes);
  p->functions = functions;
  p->slots = slots;
  p->capacity = wanted;
  for (uint32_t i = 1; i < p->count; i++) *find_slot(p, p->functions[i].name) = i;
  return true;
}

uint32_t profile_function(struct profile *p, const char *name) {
  if (p->count == p->capacity && !grow(p)) return 0;
  uint32_t *slot = find_slot(p, name);
  if (*slot) return *slot;
  size_t bytes = strlen(name) + 1;
  char *copy = heap_alloc(p->heap, bytes);
  if (!copy) return 0;
  memcpy(copy, name, bytes);
  p->functions[p->count] = (struct function_row){.name = copy};
  if (p->count > 0) *slot = p->count; /* row 0 is found by nobody */
  return p->count++;
}

void profile_call(struct profile *p, uint32_t function) {
  p->functions[function].calls++;
}

static uint64_t steps_of(const struct profile_entry *e) {
  switch (opcode_info(e->op)->class) {
  case OC_SCAN:
  case OC_REDUCE:
  case OC_RANK: break;
  default: return 1;
  }
  uint64_t steps = 0;
  for (uint64_t n = e->over; n > 1; n = n / 2 + n % 2) steps++;
  return steps > 0 ? steps : 1;
}

static void add(struct counts *to, const struct counts *x) {
  to->instructions += x->instructions;
  to->read += x->read;
  to->written += x->written;
  to->bytes += x->bytes;
  to->steps += x->steps;
  to->seconds += x->seconds;
}

void profile_instruction(struct profile *p, uint32_t function, const struct profile_entry *e) {
  const struct counts one = {.instructions = 1,
                             .read = e->read,
                             .written = e->written,
                             .bytes = e->bytes,
                             .steps = steps_of(e),
                             .seconds = e->seconds};
  add(&p->opcodes[e->op][e->type], &one);
  add(&p->functions[function].counts, &one);
  add(&p->total, &one);
}

void profile_run(struct profile *p, double seconds, uint64_t peak_bytes) {
  p->runs++;
  p->elapsed += seconds;
  if (peak_bytes > p->peak_bytes) p->peak_bytes = peak_bytes;
}

/* ---- order ---- */

/* A line of either table. */
struct line {
  const char *name;
  const char *type; /* of an opcode; "" without one */
  bool is_function;
  uint64_t calls;
  const struct counts *counts;
};

/* Most time first, then most work, then by name: the order of a table is reproducible. */
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

static size_t opcode_lines(const struct profile *p, struct line lines[]) {
  size_t n = 0;
  for (unsigned op = 0; op < OPC_COUNT; op++) {
    for (unsigned type = 0; type < TYPE_WORDS; type++) {
      const struct counts *c = &p->opcodes[op][type];
      if (c->instructions == 0) continue;
      lines[n++] = (struct line){.name = opcode_info((enum opcode)op)->spelling,
                                 .type = type_word_text((enum type_word)type),
                                 .calls = c->instructions,
                                 .counts = c};
    }
  }
  qsort(lines, n, sizeof *lines, compare_lines);
  return n;
}

static size_t function_lines(const struct profile *p, struct line lines[]) {
  size_t n = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    const struct function_row *f = &p->functions[i];
    if (f->calls == 0 && f->counts.instructions == 0) continue;
    lines[n++] = (struct line){.name = f->name,
                               .type = "",
                               .is_function = true,
                               .calls = f->calls,
                               .counts = &f->counts};
  }
  qsort(lines, n, sizeof *lines, compare_lines);
  return n;
}

/* ---- for people ---- */

static double gigabytes_per_second(const struct counts *c) {
  return c->seconds > 0 ? (double)c->bytes / c->seconds / 1e9 : 0;
}

static void print_table(const struct profile *p, FILE *out, const char *title,
                        const struct line *lines, size_t n) {
  fprintf(out, "\n%-28s %12s %16s %10s %12s %7s %8s\n", title, "calls", "elements", "bytes",
          "seconds", "share", "GB/s");
  for (size_t i = 0; i < n; i++) {
    const struct counts *c = lines[i].counts;
    char name[64], bytes[NUMBER_TEXT_MAX];
    snprintf(name, sizeof name, "%s%s%s", lines[i].name, *lines[i].type ? " " : "",
             lines[i].type);
    format_bytes(bytes, c->bytes);
    double share = p->total.seconds > 0 ? 100 * c->seconds / p->total.seconds : 0;
    fprintf(out, "%-28s %12llu %16llu %10s %12.6f %6.1f%% %8.2f\n", name,
            (unsigned long long)lines[i].calls, (unsigned long long)(c->read + c->written),
            bytes, c->seconds, share, gigabytes_per_second(c));
  }
}

static void print_tables(const struct profile *p, FILE *out, const struct line *opcodes,
                         size_t opcode_count, const struct line *functions,
                         size_t function_count) {
  char peak[NUMBER_TEXT_MAX];
  format_bytes(peak, p->peak_bytes);
  const struct counts *t = &p->total;
  fprintf(out,
          "instructions %llu, work %llu, steps %llu\n"
          "elapsed %.6f s, of it in instructions %.6f s; peak memory %s\n",
          (unsigned long long)t->instructions, (unsigned long long)(t->read + t->written),
          (unsigned long long)t->steps, p->elapsed, t->seconds, peak);
  print_table(p, out, "opcode", opcodes, opcode_count);
  print_table(p, out, "function (without callees)", functions, function_count);
}

/* ---- for programs ---- */

static void json_string(FILE *out, const char *s) {
  fputc('"', out);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') fputc('\\', out);
    if ((unsigned char)*s < ' ') {
      fprintf(out, "\\u%04x", (unsigned)(unsigned char)*s);
    } else {
      fputc(*s, out);
    }
  }
  fputc('"', out);
}

static void json_number(FILE *out, const char *key, double x) {
  char text[NUMBER_TEXT_MAX];
  format_float_exact(text, x);
  fprintf(out, "\"%s\": %s", key, text);
}

static void json_counts(FILE *out, const struct counts *c) {
  fprintf(out,
          "\"read\": %llu, \"written\": %llu, \"work\": %llu, \"steps\": %llu, "
          "\"bytes\": %llu, ",
          (unsigned long long)c->read, (unsigned long long)c->written,
          (unsigned long long)(c->read + c->written), (unsigned long long)c->steps,
          (unsigned long long)c->bytes);
  json_number(out, "seconds", c->seconds);
}

static void json_lines(FILE *out, const char *key, const struct line *lines, size_t n) {
  fprintf(out, " \"%s\": [", key);
  for (size_t i = 0; i < n; i++) {
    fprintf(out, "%s\n  {\"%s\": ", i ? "," : "", lines[i].is_function ? "name" : "opcode");
    json_string(out, lines[i].name);
    if (*lines[i].type) fprintf(out, ", \"type\": \"%s\"", lines[i].type);
    fprintf(out, ", \"calls\": %llu, ", (unsigned long long)lines[i].calls);
    if (lines[i].is_function) {
      fprintf(out, "\"instructions\": %llu, ",
              (unsigned long long)lines[i].counts->instructions);
    }
    json_counts(out, lines[i].counts);
    fputc('}', out);
  }
  fputs("]", out);
}

static void print_json(const struct profile *p, FILE *out, const struct line *opcodes,
                       size_t opcode_count, const struct line *functions,
                       size_t function_count) {
  fprintf(out, "{\"runs\": %llu, \"instructions\": %llu, ", (unsigned long long)p->runs,
          (unsigned long long)p->total.instructions);
  json_counts(out, &p->total);
  fputs(", ", out);
  json_number(out, "elapsed", p->elapsed);
  fprintf(out, ", \"peak_bytes\": %llu,\n", (unsigned long long)p->peak_bytes);
  json_lines(out, "opcodes", opcodes, opcode_count);
  fputs(",\n", out);
  json_lines(out, "functions", functions, function_count);
  fputs("}\n", out);
}

void profile_print(const struct profile *p, FILE *out, bool json) {
  struct line opcodes[OPC_COUNT * TYPE_WORDS];
  size_t opcode_count = opcode_lines(p, opcodes), function_count = 0;
  size_t bytes = p->count * sizeof(struct line);
  struct line *functions = heap_alloc(p->heap, bytes); /* without memory: no such table */
  if (functions) function_count = function_lines(p, functions);
  (json ? print_json : print_tables)(p, out, opcodes, opcode_count, functions, function_count);
  heap_free(p->heap, functions, bytes);
}
