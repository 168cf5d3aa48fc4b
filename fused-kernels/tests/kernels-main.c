/* kernels-main.c - ravel-kernels FILE.fcode ...: compiles the kernel of every superoperator of
 * these files by NVRTC, as the CUDA back end would, and prints for each the registers that it
 * takes. Fails if one is refused, warned of, or spills registers. The same kernel is compiled
 * once. scripts/check-kernels runs it over a corpus.
 */
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/fused.h"
#include "fused-kernels/tests/nvrtc.h"

struct seen {
  uint64_t *hash;
  uint32_t count, room;
};

static bool is_new(struct seen *s, uint64_t hash) {
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

static char *read_file(const char *path, size_t *length) {
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

static bool check(const struct nvrtc *n, const char *path, const struct fused_kernel *k) {
  char formula[100], *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) abort();
  fused_emit_kernel(k, "kernel", out);
  fclose(out);
  struct nvrtc_report r = nvrtc_compile(n, text);
  bool good = r.good && r.spilled == 0 && r.stack == 0;
  printf("%s %3d registers, %d bytes spilled: OP%u of %s: %s\n", good ? "ok  " : "FAIL",
         r.registers, r.spilled, k->op->number, path,
         fused_formula(k->op, formula, sizeof formula));
  if (!good) puts(r.log);
  free(r.log);
  free(text);
  return good;
}

/* Returns how many kernels are not as they should be. */
static uint32_t check_file(const struct nvrtc *n, struct seen *seen, const char *path) {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  size_t length;
  uint32_t bad = 0;
  char *text = read_file(path, &length);
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
    struct fused_kernel k;
    if (op == NULL) bad++;
    if (op == NULL || superop_has_combinations(op)) continue;
    if (!is_new(seen, superop_hash(op))) continue;
    fused_kernel_plan(&arena, op, p->widths, LEAVE_SPREADS, &k);
    if (!k.is_empty && !check(n, path, &k)) bad++;
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
    puts("SKIPPED: libnvrtc.so.13 is not here");
    return 77;
  }
  for (int i = 1; i < argc; i++) bad += check_file(&n, &seen, argv[i]);
  printf("%u kernels, %u bad\n", seen.count, bad);
  free(seen.hash);
  return bad != 0;
}
