/* kernels-main.c - ravel-kernels FILE.fcode ...: compiles the kernel of every superoperator of
 * these files by NVRTC, as the CUDA back end would, and prints for each the registers that it
 * takes; and those of its combinations. Fails if one is refused, warned of, spills registers or
 * takes too many. The same kernel is compiled once. scripts/check-kernels runs it over a
 * corpus.
 */
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/fused.h"
#include "fused-kernels/tests/nvrtc.h"

/* With more registers than these less than a quarter of a multiprocessor's threads find room.
 */
enum { MOST_BYTES_OF_REPORTS = 64 << 20, MOST_REGISTERS = 128 };

struct seen {
  uint64_t *hash;
  uint32_t count, room;
};

static bool kernels_main_is_new(struct seen *s, uint64_t hash) {
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->hash[i] == hash) return false;
  }
  if (s->count == s->room) {
    s->room = s->room ? 2 * s->room : 64;
    s->hash = realloc(s->hash, s->room * sizeof *s->hash);
    if (s->hash == NULL) abort();
  }
  s->hash[s->count++] = hash;
  return true;
}

static char *kernels_main_read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  char *text = NULL;
  size_t room = 0, got;
  *length = 0;
  do {
    room = 2 * room + 4096;
    text = realloc(text, room);
    if (text == NULL) abort();
    got = fread(text + *length, 1, room - *length, file);
    *length += got;
  } while (*length == room);
  fclose(file);
  return text;
}

/* Whether a text is accepted, and without spills. `what` it is of. */
static bool kernels_main_check_text(const struct nvrtc *n, const char *path,
                                    const struct superop *op, const char *text,
                                    const char *what) {
  char formula[100];
  struct nvrtc_report r = nvrtc_compile(n, text);
  bool good = r.good && r.spilled == 0 && r.stack == 0 && r.registers <= MOST_REGISTERS;
  printf("%s %3d registers, %d bytes spilled: OP%u%s of %s: %s\n", good ? "ok  " : "FAIL",
         r.registers, r.spilled, op->number, what, path,
         fused_formula(op, formula, sizeof formula));
  if (!good) puts(r.log);
  free(r.log);
  return good;
}

static bool kernels_main_check(const struct nvrtc *n, const char *path,
                               const struct superop *op) {
  const struct widths w = {CVL_I64, CVL_F64};
  unsigned leave[FUSED_KERNELS];
  const uint32_t count = !op->copies             ? fused_kernels(op, leave)
                         : fused_copy_is_fit(op) ? fused_copy_kernels(op)
                                                 : 0;
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    struct fused_source s;
    const bool made =
        op->copies ? fused_source_make_copy(op, i, w, NULL, "kernel", &s)
                   : fused_source_make(op, w, LEAVE_SPREADS | leave[i], NULL, "kernel", &s);
    if (!made) abort();
    if (!s.kernel.is_empty) good &= kernels_main_check_text(n, path, op, s.text, "");
    fused_source_free(&s);
  }
  return good;
}

/* The kernels of scans of long segments. */
static bool check_long(const struct nvrtc *n, const char *path, const struct superop *op) {
  const struct widths w = {CVL_I64, CVL_F64};
  unsigned leave[FUSED_KERNELS];
  const uint32_t count = op->copies ? 0 : fused_kernels(op, leave);
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    struct fused_source s;
    if (!(leave[i] & SCAN_BIT)) continue;
    if (!fused_source_make(op, w, LEAVE_SPREADS | SCAN_LONG | leave[i], NULL, "kernel", &s))
      abort();
    good &= kernels_main_check_text(n, path, op, s.text, ", of long segments");
    fused_source_free(&s);
  }
  return good;
}

/* The kernel for short segments, if there is another than that for long ones. */
static bool check_short(const struct nvrtc *n, const char *path, const struct superop *op) {
  const struct widths w = {CVL_I64, CVL_F64};
  struct fused_source s;
  unsigned leave[FUSED_KERNELS];
  if (op->copies || superop_has_combinations(op)) return true;
  fused_kernels(op, leave);
  if (!fused_source_make(op, w, LEAVE_SPREADS | SHORT_SEGMENTS | leave[0], NULL, "kernel", &s))
    abort();
  const bool good = !s.kernel.by_groups ||
                    kernels_main_check_text(n, path, op, s.text, ", for short segments");
  fused_source_free(&s);
  return good;
}

/* The kernels of the combination that begins with node k. */
static bool check_trees(const struct nvrtc *n, const char *path, const struct superop *op,
                        uint32_t k) {
  const bool scans = op->nodes[superop_combination_at(op, k).ends].role == ROLE_COMBINE_SCAN;
  bool good = true;
  for (int which = TREE_UP; which <= (scans ? TREE_DOWN : TREE_UP); which++) {
    struct fused_source s;
    if (!fused_source_make_tree(op, k, (enum fused_tree)which,
                                (struct widths){CVL_I64, CVL_F64}, "kernel", &s))
      abort();
    good &= kernels_main_check_text(n, path, op, s.text,
                                    which == TREE_UP ? ", upwards" : ", downwards");
    fused_source_free(&s);
  }
  return good;
}

/* Returns how many kernels are not as they should be. */
static uint32_t kernels_main_check_file(const struct nvrtc *n, struct seen *seen,
                                        const char *path) {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  size_t length;
  uint32_t bad = 0;
  char *text = kernels_main_read_file(path, &length);
  if (text == NULL) {
    printf("FAIL %s cannot be read\n", path);
    return 1;
  }
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  struct vcode_program *p =
      vcode_parse(&arena, path, text, length, (struct widths){CVL_I64, CVL_F64}, &diags);
  for (uint32_t i = 0; p != NULL && i < p->fused_count; i++) {
    struct superop *op = fused_parse(&arena, p, &p->fused[i], &diags);
    if (op == NULL) bad++;
    if (op == NULL || !kernels_main_is_new(seen, superop_hash(op))) continue;
    if (!kernels_main_check(n, path, op)) bad++;
    if (!check_short(n, path, op)) bad++;
    if (!check_long(n, path, op)) bad++;
    for (uint32_t k = 0; k < op->node_count; k++) {
      if (fused_begins_combination(op, k) && !check_trees(n, path, op, k)) bad++;
    }
  }
  if (p == NULL || bad != 0) printf("FAIL %s: %u kernels\n", path, bad);
  arena_free(&arena);
  free(text);
  return bad + (p == NULL);
}

int main(int argc, char **argv) {
  struct nvrtc n;
  struct seen seen = {NULL, 0, 0};
  uint32_t bad = 0;
  if (!nvrtc_open(&n)) {
    puts("SKIPPED (no NVRTC) kernels of superoperators: libnvrtc.so.13 is not here");
    return 77;
  }
  for (int i = 1; i < argc; i++) bad += kernels_main_check_file(&n, &seen, argv[i]);
  if (n.reports >= 0) cache_make_room(n.reports, NVRTC_PREFIX, "", MOST_BYTES_OF_REPORTS);
  printf("%u kernels, %u bad\n", seen.count, bad);
  free(seen.hash);
  return bad != 0;
}
