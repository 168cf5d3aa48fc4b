/* test-kernels.c - kernels: of superoperators written by hand, as text, those of
 * docs/internals/kernels.md among them; and the rules of kernels, which those of random
 * superoperators keep, and which find all sorts of damage.
 */
#include "base/tests/every.h"
#include "fused-kernels/kernel.h"
#include "fused-kernels/tests/emitted.h"

#include "base/text.h"

static const struct widths wide = {CVL_I64, CVL_F64};

/* ---- text ---- */

/* The text of a kernel, in the arena. */
static const char *kernel_text(struct arena *arena, const struct kernel *k) {
  struct text text;
  cr_assert(text_begin(&text, arena->heap));
  kernel_print(k, text.stream);
  cr_assert(text_end(&text));
  const char *copy = arena_copy(arena, text.bytes, text.length);
  text_free(&text);
  return copy;
}

static void expect_text(const char *definition, bool runs, const char *wanted) {
  struct loaded l;
  load(&l, definition, wide);
  cr_assert_not_null(l.ops[0], "%s", definition);
  struct kernel *k = kernel_lower(&l.arena, l.ops[0]);
  if (runs) kernel_find_strides(&l.arena, k, NULL);
  const char *why = kernel_fault(&l.arena, k), *found = kernel_text(&l.arena, k);
  cr_expect_null(why, "%s", why);
  if (strcmp(found, wanted) != 0)
    cr_expect_fail("%s\n-- found\n%s-- wanted\n%s", definition, found, wanted);
  unload(&l);
}

static const struct {
  const char *definition, *wanted;
  bool runs;
} texts[] = {
    {"fused OP0#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : FLOAT, $4 : SEGDES, $5 : SEGDES) =\n"
     "(+_REDUCE FLOAT @ (* FLOAT @ $0 (BPERMUTE FLOAT @ $3 $1 $4 $5)) $2)",
     "kernel (0 : FLOAT, 1 : INT, 2 : SEGDES, 3 : FLOAT, 4 : SEGDES, 5 : SEGDES) over length "
     "1, segments 2\n"
     "  %0 = load 1\n"
     "  %1 = gather 3 %0 in 5 of 4 checked\n"
     "  %2 = load 0\n"
     "  %3 = * FLOAT %2 %1\n"
     "  reduce +_REDUCE FLOAT %3 in 2 -> 0\n",
     false},
    {"fused OP0#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : FLOAT) =\n"
     "$4 = (> FLOAT @ $0 (DIST FLOAT @ (CONST FLOAT 0.5) $2))\n"
     "$5 $6 = (PACK FLOAT @ $3 $4 $2) $7 $8 = (PACK INT @ $1 (NOT BOOL @ $4) $2)\n"
     "-> $5 $6 $7 $8",
     "kernel (0 : FLOAT, 1 : INT, 2 : SEGDES, 3 : FLOAT) over total 2, segments 2\n"
     "  %0 = constant 0.5\n"
     "  %1 = load 0\n"
     "  %2 = > FLOAT %1 %0\n"
     "  %3 = load 3\n"
     "  keep %3 %2 in 2 -> 0, segments -> 1\n"
     "  %4 = NOT BOOL %2\n"
     "  %5 = load 1\n"
     "  keep %5 %4 in 2 -> 2, segments -> 3\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : BOOL, $3 : INT, $4 : SEGDES, $5 : SEGDES) =\n"
     "$6 = (DFPERMUTE INT @ (+ INT @ $0 $0) $1 $2 $3 $4 $5)\n"
     "$7 = (FPERMUTE INT @ $0 $1 (NOT BOOL @ $2) $4 $5) -> $6 $7",
     "kernel (0 : INT, 1 : INT, 2 : BOOL, 3 : INT, 4 : SEGDES, 5 : SEGDES) over length 0\n"
     "  %0 = load 0\n"
     "  %1 = + INT %0 %0\n"
     "  %2 = load 1\n"
     "  %3 = load 2\n"
     "  scatter DFPERMUTE INT 3 %1 %2 %3 in 4 of 5 checked -> 0\n"
     "  %4 = NOT BOOL %3\n"
     "  scatter FPERMUTE INT %0 %2 %4 in 4 of 5 checked -> 1\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : FLOAT, $4 : SEGDES) =\n"
     "$5 = (INDEX @ $0 $1 $2) $6 = (DIST FLOAT @ $3 $4)\n"
     "$7 = (+ FLOAT @ (I_TO_F @ $5) $6) -> $7 $5",
     "kernel (0 : INT, 1 : INT, 2 : SEGDES, 3 : FLOAT, 4 : SEGDES) over total 2\n"
     "  %0 = spread 0 in 2\n"
     "  %1 = spread 1 in 2\n"
     "  %2 = offset in 2\n"
     "  %3 = * INT %2 %1\n"
     "  %4 = + INT %0 %3\n"
     "  %5 = spread 3 in 4\n"
     "  %6 = I_TO_F %4\n"
     "  %7 = + FLOAT %6 %5\n"
     "  store %7 -> 0\n"
     "  store %4 -> 1\n",
     false},
    {"fused OP0#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : BOOL, $4 : INT, $5 : SEGDES,\n"
     "$6 : SEGDES) =\n"
     "$7 = (EXTRACT FLOAT @ $0 $1 $2) $8 = (! BFPERMUTE FLOAT @ $0 $4 $3 $5 $6)\n"
     "(+ FLOAT @ $7 $8)",
     "kernel (0 : FLOAT, 1 : INT, 2 : SEGDES, 3 : BOOL, 4 : INT, 5 : SEGDES, 6 : SEGDES) over "
     "length 1\n"
     "  %0 = load 1\n"
     "  %1 = gather 0 %0 of 2 checked\n"
     "  %2 = load 4\n"
     "  %3 = load 3\n"
     "  %4 = gather 0 %2 %3 in 6 of 5\n"
     "  %5 = + FLOAT %1 %4\n"
     "  store %5 -> 0\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : BOOL, $2 : SEGDES, $3 : INT) =\n"
     "$4 = (DIST INT @ (CONST INT 2) $2) $5 = (CARRY INT @ $0) $6 = (CARRY BOOL @ $1)\n"
     "(WHILE @ $6) $7 = (- INT @ $5 $4) $8 = (> INT @ $7 $4)\n"
     "$9 = (NEXT INT @ $5 $7) $10 = (NEXT BOOL @ $6 $8) $11 = (/ INT @ $9 $3) -> $11",
     "kernel (0 : INT, 1 : BOOL, 2 : SEGDES, 3 : INT) over total 2\n"
     "  %0 = constant 2\n"
     "  %1 = load 0\n"
     "  %2 = carry %1\n"
     "  %3 = load 1\n"
     "  %4 = carry %3\n"
     "  while %4\n"
     "  %5 = - INT %2 %0\n"
     "  %6 = > INT %5 %0\n"
     "  %7 = next %2 %5\n"
     "  %8 = next %4 %6\n"
     "  %9 = load 3\n"
     "  %10 = / INT %7 %9 checked\n"
     "  store %10 -> 0\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : FLOAT, $2 : SEGDES, $3 : INT, $4 : SEGDES) =\n"
     "$5 = (CONST FLOAT 1.0) $6 = (DIST INT @ (CONST INT 7) $4)\n"
     "$7 = (* FLOAT @ $1 $1) $8 $9 = (COLUMN INT @ $0) $10 $11 = (COLUMN FLOAT @ $7)\n"
     "$12 = (- INT @ (* INT @ $8 $6) $9)\n"
     "$13 = (COMBINE_REDUCE INT @ $8 $12 $3 $2)\n"
     "$14 = (COMBINE_REDUCE FLOAT @ $10 $11 $5 $2) -> $14 $13",
     "kernel (0 : INT, 1 : FLOAT, 2 : SEGDES, 3 : INT, 4 : SEGDES) over total 4, segments 2\n"
     "  %0 = constant 7\n"
     "  %1 = load 1\n"
     "  %2 = * FLOAT %1 %1\n"
     "  %3 = load 0\n"
     "  %4 = spread 3 in 2\n"
     "  %5 = constant 1\n"
     "  combine COMBINE_REDUCE in 2\n"
     "    $9 $10 = %3 else %4\n"
     "    $11 $12 = %2 else %5\n"
     "    $13 = * INT $9 7\n"
     "    $14 = - INT $13 $10\n"
     "    $14 -> 1\n"
     "    $12 -> 0\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES) =\n"
     "$5 $6 = (COLUMN INT @ $0) $7 = (OR INT @ $5 $6)\n"
     "$8 = (COMBINE_SCATTER INT @ $5 $7 $1 $2 $3 $4) -> $8",
     "kernel (0 : INT, 1 : INT, 2 : INT, 3 : SEGDES, 4 : SEGDES) over length 0\n"
     "  %0 = load 0\n"
     "  %1 = load 1\n"
     "  combine COMBINE_SCATTER %1 in 3 of 4\n"
     "    $5 $6 = %0 onto 2\n"
     "    $7 = OR INT $5 $6\n"
     "    $7 -> 0\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : SEGDES, $2 : FLOAT) =\n"
     "$3 = (+_SCAN FLOAT @ $2 $1) $4 = (MAX_REDUCE INT @ $0 $1) $5 = (NOT INT @ $0)\n"
     "$6 = (*_SCAN INT @ $5 $1) $7 = (XOR_REDUCE INT @ $5 $1) -> $7 $6 $4 $3 $5",
     "kernel (0 : INT, 1 : SEGDES, 2 : FLOAT) over length 2, segments 1\n"
     "  %0 = load 2\n"
     "  scan +_SCAN FLOAT %0 in 1 -> 3\n"
     "  %1 = load 0\n"
     "  reduce MAX_REDUCE INT %1 in 1 -> 2\n"
     "  %2 = NOT INT %1\n"
     "  scan *_SCAN INT %2 in 1 -> 1\n"
     "  reduce XOR_REDUCE INT %2 in 1 -> 0\n"
     "  store %2 -> 4\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : SEGDES, $2 : FLOAT, $3 : INT) =\n"
     "$4 = (DIST INT @ $3 $1) $5 = (ROUND @ $2)\n"
     "(ASSERT \"{v} and {w}\" @ (< INT @ $0 $4) $5 $4) $6 = (% @ $0 $4) -> $6",
     "kernel (0 : INT, 1 : SEGDES, 2 : FLOAT, 3 : INT) over total 1\n"
     "  %0 = spread 3 in 1\n"
     "  %1 = load 0\n"
     "  %2 = < INT %1 %0\n"
     "  check %2 checked\n"
     "  %3 = % %1 %0 checked\n"
     "  store %3 -> 0\n",
     false},
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : INT, $5 : SEGDES) =\n"
     "$6 = (CONST INT 1) $7 = (INDEX @ $1 $6 $3) $8 = (BPERMUTE INT @ $0 $7 $2 $3)\n"
     "$9 = (DPERMUTE INT @ $8 $7 $4 $3 $5) -> $9 $8",
     "kernel (0 : INT, 1 : INT, 2 : SEGDES, 3 : SEGDES, 4 : INT, 5 : SEGDES) over total 3\n"
     "  %0 = spread 1 in 3\n"
     "  %1 = constant 1\n"
     "  %2 = offset in 3\n"
     "  %3 = * INT %2 %1\n"
     "  %4 = + INT %0 %3\n"
     "  %5 = gather 0 %4 in 3 of 2 stride 1 checked\n"
     "  scatter DPERMUTE INT 4 %5 %4 in 3 of 5 stride 1 checked -> 0\n"
     "  store %5 -> 1\n",
     true},
    /* a rotation and a reversal */
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES) =\n"
     "$4 = (INDEX @ (CONST INT 0) (CONST INT 1) $3) $5 = (DIST INT @ $1 $3)\n"
     "$6 = (- INT @ $4 $5)\n"
     "$7 = (SELECT INT @ (<= INT @ $5 $4) $6 (+ INT @ $6 (DIST INT @ $2 $3)))\n"
     "$8 = (BPERMUTE INT @ $0 $7 $3 $3) $9 = (INDEX @ $2 (CONST INT -1) $3)\n"
     "$10 = (BPERMUTE INT @ $0 $9 $3 $3) -> $8 $10",
     "kernel (0 : INT, 1 : INT, 2 : INT, 3 : SEGDES) over total 3\n"
     "  %0 = constant 0\n"
     "  %1 = constant 1\n"
     "  %2 = offset in 3\n"
     "  %3 = * INT %2 %1\n"
     "  %4 = + INT %0 %3\n"
     "  %5 = spread 1 in 3\n"
     "  %6 = - INT %4 %5\n"
     "  %7 = <= INT %5 %4 stride -1 turns\n"
     "  %8 = spread 2 in 3\n"
     "  %9 = + INT %6 %8\n"
     "  %10 = SELECT INT %7 %6 %9\n"
     "  %11 = gather 0 %10 in 3 of 3 stride 1 turns checked\n"
     "  %12 = spread 2 in 3\n"
     "  %13 = constant -1\n"
     "  %14 = offset in 3\n"
     "  %15 = * INT %14 %13\n"
     "  %16 = + INT %12 %15\n"
     "  %17 = gather 0 %16 in 3 of 3 stride -1 checked\n"
     "  store %11 -> 0\n"
     "  store %17 -> 1\n",
     true},
    /* clamped */
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
     "$3 = (INDEX @ (CONST INT 0) (CONST INT 1) $2) $4 = (DIST INT @ $1 $2)\n"
     "$5 = (SELECT INT @ (>= INT @ $3 $4) $4 $3) (BPERMUTE INT @ $0 $5 $2 $2)",
     "kernel (0 : INT, 1 : INT, 2 : SEGDES) over total 2\n"
     "  %0 = constant 0\n"
     "  %1 = constant 1\n"
     "  %2 = offset in 2\n"
     "  %3 = * INT %2 %1\n"
     "  %4 = + INT %0 %3\n"
     "  %5 = spread 1 in 2\n"
     "  %6 = >= INT %4 %5 stride 1 turns\n"
     "  %7 = SELECT INT %6 %5 %4 moving 2\n"
     "  %8 = gather 0 %7 in 2 of 2 stride 1 turns checked\n"
     "  store %8 -> 0\n",
     true},
    /* no stride: the segments of another descriptor, one of 2, a start of another segment */
    {"fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : SEGDES) =\n"
     "$5 = (INDEX @ $1 (CONST INT 1) $3) $6 = (BPERMUTE INT @ $0 $5 $2 $4)\n"
     "$7 = (INDEX @ $1 (CONST INT 2) $3) $8 = (BPERMUTE INT @ $0 $7 $2 $3)\n"
     "$9 = (INDEX @ (CONST INT 0) (CONST INT 1) $3)\n"
     "$10 = (BPERMUTE INT @ $0 (+ INT @ (DIST INT @ $1 $4) $9) $2 $3) -> $6 $8 $10",
     "kernel (0 : INT, 1 : INT, 2 : SEGDES, 3 : SEGDES, 4 : SEGDES) over total 3\n"
     "  %0 = spread 1 in 3\n"
     "  %1 = constant 1\n"
     "  %2 = offset in 3\n"
     "  %3 = * INT %2 %1\n"
     "  %4 = + INT %0 %3\n"
     "  %5 = gather 0 %4 in 4 of 2 checked\n"
     "  %6 = spread 1 in 3\n"
     "  %7 = constant 2\n"
     "  %8 = offset in 3\n"
     "  %9 = * INT %8 %7\n"
     "  %10 = + INT %6 %9\n"
     "  %11 = gather 0 %10 in 3 of 2 checked\n"
     "  %12 = constant 0\n"
     "  %13 = constant 1\n"
     "  %14 = offset in 3\n"
     "  %15 = * INT %14 %13\n"
     "  %16 = + INT %12 %15\n"
     "  %17 = spread 1 in 4\n"
     "  %18 = + INT %17 %16\n"
     "  %19 = gather 0 %18 in 3 of 2 checked\n"
     "  store %5 -> 0\n"
     "  store %11 -> 1\n"
     "  store %19 -> 2\n",
     true},
};
enum { TEXTS = sizeof texts / sizeof *texts };

Test(kernels, text) {
  for (unsigned i = 0; i < TEXTS; i++)
    expect_text(texts[i].definition, texts[i].runs, texts[i].wanted);
}

/* ---- the page ---- */

static char *read_page(void) {
  FILE *file = fopen(KERNELS_PAGE, "r");
  cr_assert_not_null(file, "%s", KERNELS_PAGE);
  enum { MOST = 1 << 20 };
  char *text = calloc(MOST, 1);
  const size_t length = fread(text, 1, MOST - 1, file);
  cr_assert(length > 0 && length < MOST - 1);
  fclose(file);
  return text;
}

/* The next block of code that begins with a word, ended by a NUL; NULL if there is none. */
static char *next_block(char **at, const char *word) {
  char *fence;
  while ((fence = strstr(*at, "\n```"))) {
    char *begin = strchr(fence + 1, '\n'), *end = begin ? strstr(begin, "\n```") : NULL;
    if (!end) return NULL;
    *at = end + 4;
    if (strncmp(begin + 1, word, strlen(word)) != 0) continue;
    end[1] = '\0';
    return begin + 1;
  }
  return NULL;
}

/* Each superoperator of the page is followed by its kernel. */
Test(kernels, of_the_page) {
  enum { LEAST = 3 };
  char *page = read_page(), *at = page, *definition, *kernel;
  unsigned count = 0;
  for (; (definition = next_block(&at, "fused ")); count++) {
    kernel = next_block(&at, "kernel ");
    cr_assert_not_null(kernel, "%s", definition);
    expect_text(definition, true, kernel);
  }
  cr_expect_geq(count, LEAST);
  free(page);
}

/* ---- rules ---- */

static const struct mixture mixtures[] = {
    {.maps = 8,
     .spreads = 3,
     .gathers = 2,
     .reductions = 3,
     .scans = 2,
     .packs = 2,
     .scatters = 1},
    {.maps = 4, .spreads = 2, .reductions = 1, .loops = 2},
    {.maps = 8,
     .spreads = 2,
     .gathers = 3,
     .reductions = 2,
     .scans = 1,
     .packs = 1,
     .scatters = 2,
     .wild = true},
    {.maps = 4, .spreads = 1, .gathers = 2, .reductions = 1, .asserts = 3, .wild = true},
    {.maps = 3, .spreads = 1, .gathers = 1, .scatters = 1, .combinations = 3},
};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

/* A kernel that is to be damaged, and what may be done to it. */
struct victim {
  struct suite *s;
  struct kernel *k;
};

static uint64_t any(struct victim *v, uint64_t n) {
  return rng_below(&v->s->rng, n);
}

/* Any statement of a kind; NULL if there is none. */
static struct kernel_statement *any_of(struct victim *v, enum kernel_statement_kind kind) {
  struct kernel_statement *found = NULL;
  uint64_t seen = 0;
  for (uint32_t i = 0; i < v->k->count; i++) {
    if (v->k->statements[i].kind == kind && any(v, ++seen) == 0) found = &v->k->statements[i];
  }
  return found;
}

static struct kernel_statement *any_with_operands(struct victim *v) {
  struct kernel_statement *found = NULL;
  uint64_t seen = 0;
  for (uint32_t i = 0; i < v->k->count; i++) {
    if (v->k->statements[i].count > 0 && any(v, ++seen) == 0) found = &v->k->statements[i];
  }
  return found;
}

/* Damage; false if the kernel has nothing that can be damaged so. */
typedef bool damage(struct victim *);

static bool operand_of_later(struct victim *v) {
  struct kernel_statement *s = any_with_operands(v);
  if (s) s->operands[any(v, s->count)] = v->k->values - 1;
  return s && s->value != SUPEROP_NONE;
}

static bool operand_of_nothing(struct victim *v) {
  struct kernel_statement *s = any_with_operands(v);
  if (s) s->operands[any(v, s->count)] = v->k->values + (uint32_t)any(v, 3);
  return s != NULL;
}

static bool operand_of_another_type(struct victim *v) {
  struct kernel_statement *s = any_with_operands(v);
  if (!s) return false;
  v->k->types[s->operands[any(v, s->count)]] = SUPEROP_SEGDES;
  return true;
}

static bool operand_of_another_element(struct victim *v) {
  struct kernel_statement *s = any_with_operands(v);
  if (!s || s->kind == KERNEL_COMBINE) return false;
  const unsigned i = (unsigned)any(v, s->count);
  const uint8_t was = v->k->types[s->operands[i]];
  for (uint32_t j = 0; &v->k->statements[j] < s; j++) {
    const struct kernel_statement *other = &v->k->statements[j];
    if (other->kind != KERNEL_LOAD || other->type == was) continue;
    s->operands[i] = other->value;
    return true;
  }
  return false;
}

static bool operand_too_few(struct victim *v) {
  struct kernel_statement *s = any_with_operands(v);
  if (!s || s->kind == KERNEL_COMBINE || (s->kind == KERNEL_SCATTER && s->count == 3) ||
      (s->kind == KERNEL_GATHER && s->count == 2))
    return false;
  s->count--;
  return true;
}

static bool type_of_another(struct victim *v) {
  struct kernel_statement *s = any_of(v, (enum kernel_statement_kind)any(v, KERNEL_CHECK));
  if (!s) return false;
  s->type = (uint8_t)((s->type + 1) % SUPEROP_SEGDES);
  return true;
}

static bool value_twice(struct victim *v) {
  struct kernel_statement *a = any_of(v, KERNEL_LOAD), *b = any_of(v, KERNEL_MAP);
  if (!a || !b) return false;
  b->value = a->value;
  return true;
}

static bool value_of_none(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_LOAD);
  if (!s) return false;
  s->value = any(v, 2) ? SUPEROP_NONE : v->k->values;
  return true;
}

static bool param_of_descriptor(struct victim *v) {
  static const uint8_t kinds[] = {KERNEL_LOAD, KERNEL_SPREAD, KERNEL_GATHER};
  struct kernel_statement *s = any_of(v, kinds[any(v, 3)]);
  for (uint32_t p = 0; s && p < v->k->op->param_count; p++) {
    if (v->k->op->kinds[p] != SUPEROP_SEGDES) continue;
    s->param = p;
    return true;
  }
  return false;
}

static bool param_of_no_vector(struct victim *v) {
  static const uint8_t kinds[] = {KERNEL_LOAD, KERNEL_SPREAD, KERNEL_GATHER};
  struct kernel_statement *s = any_of(v, kinds[any(v, 3)]);
  if (!s) return false;
  s->param = any(v, 2) ? SUPEROP_NONE : v->k->op->param_count;
  return true;
}

static bool param_of_another(struct victim *v) {
  static const uint8_t kinds[] = {KERNEL_MAP, KERNEL_STORE, KERNEL_CONSTANT, KERNEL_CHECK};
  struct kernel_statement *s = any_of(v, kinds[any(v, 4)]);
  if (s) s->param = 0;
  return s != NULL;
}

static bool near_of_a_vector(struct victim *v) {
  static const uint8_t kinds[] = {KERNEL_SPREAD, KERNEL_OFFSET, KERNEL_GATHER, KERNEL_REDUCE,
                                  KERNEL_SCAN,   KERNEL_KEEP,   KERNEL_SCATTER};
  struct kernel_statement *s = any_of(v, kinds[any(v, sizeof kinds)]);
  for (uint32_t p = 0; s && p < v->k->op->param_count; p++) {
    if (v->k->op->kinds[p] == SUPEROP_SEGDES) continue;
    *(any(v, 2) ? &s->near : &s->far) = p;
    return true;
  }
  return false;
}

static bool near_of_nothing(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_GATHER);
  if (s) s->far = v->k->op->param_count;
  return s != NULL;
}

static bool operation_of_another(struct victim *v) {
  static const uint8_t kinds[] = {KERNEL_MAP, KERNEL_REDUCE, KERNEL_SCAN};
  struct kernel_statement *s = any_of(v, kinds[any(v, 3)]);
  if (s) s->op = any(v, 2) ? OPC_LENGTHS : SUPEROP_WHILE;
  return s != NULL;
}

static bool constant_of_nothing(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_CONSTANT);
  if (s) s->constant = NULL;
  return s != NULL;
}

static bool check_in_a_loop(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_WHILE);
  if (!s) return false;
  if (any(v, 2))
    s->kind = KERNEL_CHECK;
  else
    s->checked = true;
  return true;
}

static bool loop_without_beginning(struct victim *v) {
  bool some = false;
  for (uint32_t i = 0; i < v->k->count; i++) {
    struct kernel_statement *s = &v->k->statements[i];
    if (s->kind != KERNEL_CARRY) continue;
    some = true;
    s->kind = KERNEL_MAP;
    s->op = OPC_NOT;
    s->word = TW_INT;
  }
  return some;
}

static bool loop_without_end(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_NEXT);
  for (uint32_t i = 0; s && i < v->k->count; i++) {
    if (v->k->statements[i].kind == KERNEL_NEXT) v->k->count = i;
  }
  return s != NULL;
}

static bool next_of_another(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_NEXT);
  if (s) s->operands[0] = s->operands[1] == s->operands[0] ? v->k->values : s->operands[1];
  return s != NULL;
}

/* What a loop computes is read behind it. */
static bool inside_of_a_loop(struct victim *v) {
  uint32_t inside = SUPEROP_NONE;
  bool loop = false;
  for (uint32_t i = 0; i < v->k->count; i++) {
    struct kernel_statement *s = &v->k->statements[i];
    if (s->kind == KERNEL_CARRY) loop = true, inside = s->value;
    if (s->kind == KERNEL_NEXT) loop = false;
    if (loop || inside == SUPEROP_NONE || s->kind != KERNEL_STORE) continue;
    if (v->k->types[inside] != s->type) continue;
    s->operands[0] = inside;
    return true;
  }
  return false;
}

static bool write_in_a_loop(struct victim *v) {
  struct kernel_statement *a = any_of(v, KERNEL_WHILE), *b = any_of(v, KERNEL_REDUCE);
  if (!a || !b) return false;
  const struct kernel_statement was = *a;
  *a = *b;
  *b = was;
  return true;
}

static bool write_of_nothing(struct victim *v) {
  static const uint8_t kinds[] = {KERNEL_STORE, KERNEL_REDUCE, KERNEL_SCAN, KERNEL_KEEP,
                                  KERNEL_SCATTER};
  struct kernel_statement *s = any_of(v, kinds[any(v, sizeof kinds)]);
  if (s) s->output = any(v, 2) ? SUPEROP_NONE : (uint32_t)any(v, v->k->op->param_count);
  return s != NULL;
}

static bool write_twice(struct victim *v) {
  struct kernel_statement *s = any_of(v, KERNEL_STORE);
  if (!s || &v->k->statements[v->k->count - 1] == s) return false;
  struct kernel_statement *last = &v->k->statements[v->k->count - 1];
  if (last->kind != KERNEL_STORE || last->type != s->type) return false;
  last->output = s->output;
  return true;
}

static bool write_missing(struct victim *v) {
  const struct kernel_statement *last = &v->k->statements[v->k->count - 1];
  if (last->kind != KERNEL_STORE) return false;
  v->k->count--;
  return true;
}

static const struct {
  const char *what;
  damage *make;
} damages[] = {
#define DAMAGE(name)                                                                           \
  { #name, name }
    DAMAGE(operand_of_later),
    DAMAGE(operand_of_nothing),
    DAMAGE(operand_of_another_type),
    DAMAGE(operand_of_another_element),
    DAMAGE(operand_too_few),
    DAMAGE(type_of_another),
    DAMAGE(value_twice),
    DAMAGE(value_of_none),
    DAMAGE(param_of_descriptor),
    DAMAGE(param_of_no_vector),
    DAMAGE(param_of_another),
    DAMAGE(near_of_a_vector),
    DAMAGE(near_of_nothing),
    DAMAGE(operation_of_another),
    DAMAGE(constant_of_nothing),
    DAMAGE(check_in_a_loop),
    DAMAGE(loop_without_beginning),
    DAMAGE(loop_without_end),
    DAMAGE(next_of_another),
    DAMAGE(inside_of_a_loop),
    DAMAGE(write_in_a_loop),
    DAMAGE(write_of_nothing),
    DAMAGE(write_twice),
    DAMAGE(write_missing),
};
enum { DAMAGES = sizeof damages / sizeof *damages };

/* Makes the kernel anew, and damages it. */
static bool expect_found(struct random *r, const struct superop *op, unsigned number,
                         bool runs) {
  struct kernel *k = kernel_lower(&r->arena, op);
  if (runs) kernel_find_strides(&r->arena, k, NULL);
  const char *why = kernel_fault(&r->arena, k);
  cr_expect_null(why, "superoperator %u: %s", op->number, why);
  if (why) superop_case_print(&r->cases[op->number], stderr);
  struct victim v = {&r->suite, k};
  if (k->count == 0 || !damages[number].make(&v)) return false;
  why = kernel_fault(&r->arena, k);
  cr_expect_not_null(why, "superoperator %u: %s is not found:\n%s", op->number,
                     damages[number].what, why ? "" : kernel_text(&r->arena, k));
  return true;
}

static void check_rules(struct widths w, uint64_t seed) {
  enum { ROUNDS = 40, LEAST = 3 };
  unsigned found[DAMAGES] = {0};
  const unsigned stride = every();
  for (unsigned round = 0; round < ROUNDS; round += stride) {
    struct random r;
    random_make(&r, w, seed + round, mixtures, MIXTURES, CASES);
    for (unsigned i = 0; i < CASES; i++) {
      for (unsigned d = 0; d < DAMAGES; d++)
        found[d] += expect_found(&r, r.ops[i], d, (i + d) % 2);
    }
    random_free(&r);
  }
  for (unsigned d = 0; d < DAMAGES; d++)
    cr_expect_geq(found[d], LEAST, "%s: %u", damages[d].what, found[d]);
}

Test(kernels, rules_in_wide_widths) {
  check_rules(wide, 1);
}

Test(kernels, rules_in_narrow_widths) {
  check_rules((struct widths){CVL_I32, CVL_F32}, 1000);
}
