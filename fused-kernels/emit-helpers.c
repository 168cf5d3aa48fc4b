/* emit-helpers.c - the functions that emitted C and CUDA call, as text. In a text, @T is the
 * type of the elements, @N the name of the combination, @P what is neutral for it in every bit.
 */
#include "fused-kernels/emit-helpers.h"

#include <string.h>

static const char combine_text[] = "@Sinline @T @N(@T x, @T y) {\n  return (@T)(";

static const char reduction_text[] =
    "/* A combination of many elements in a fixed order: blocks of 1024 elements, each as 32\n"
    " * lanes whose results are combined in halves; then the results of the blocks likewise. "
    "*/\n"
    "struct @N_tree {\n"
    "  uint32_t count[TREE_LEVELS];\n"
    "  int top;\n"
    "  @T lane[TREE_LEVELS][32];\n"
    "};\n\n"
    "@S@T @N_fold(@T *lane) {\n"
    "  for (int w = 16; w >= 1; w /= 2) {\n"
    "    for (int j = 0; j < w; j++) lane[j] = @N(lane[j], lane[j + w]);\n"
    "  }\n"
    "  return lane[0];\n"
    "}\n\n"
    "@Svoid @N_push(struct @N_tree *t, int level, @T x) {\n"
    "  for (;; level++) {\n"
    "    @T *lane = t->lane[level];\n"
    "    for (int j = 0; t->count[level] == 0 && j < 32; j++) lane[j] = @P;\n"
    "    lane[t->count[level] % 32] = @N(lane[t->count[level] % 32], x);\n"
    "    if (level > t->top) t->top = level;\n"
    "    if (++t->count[level] < BLOCK) return;\n"
    "    t->count[level] = 0;\n"
    "    x = @N_fold(lane);\n"
    "  }\n"
    "}\n\n"
    "/* The next n elements: a whole block, but for the last one. */\n"
    "@Svoid @N_block(struct @N_tree *t, const @T *x, uint64_t n) {\n"
    "  @T lane[32];\n"
    "  uint64_t i = 0;\n"
    "  for (int j = 0; j < 32; j++) lane[j] = @P;\n"
    "  for (; i + 32 <= n; i += 32) {\n"
    "    for (int j = 0; j < 32; j++) lane[j] = @N(lane[j], x[i + (uint64_t)j]);\n"
    "  }\n"
    "  for (int j = 0; i < n; i++, j++) lane[j] = @N(lane[j], x[i]);\n"
    "  @N_push(t, 0, @N_fold(lane));\n"
    "}\n\n"
    "/* Of all elements, at least one; the tree is empty then. */\n"
    "@S@T @N_finish(struct @N_tree *t) {\n"
    "  for (int level = 0;; level++) {\n"
    "    if (t->count[level] == 0) continue;\n"
    "    @T x = @N_fold(t->lane[level]);\n"
    "    t->count[level] = 0;\n"
    "    if (level == t->top) {\n"
    "      t->top = 0;\n"
    "      return x;\n"
    "    }\n"
    "    @N_push(t, level + 1, x);\n"
    "  }\n"
    "}\n\n";

static const char scan_text[] =
    "/* Combinations of all elements so far in a fixed order: windows of 8 elements, above "
    "them\n"
    " * of 32 results of windows; within a window by Kogge and Stone's scheme, of which every\n"
    " * step is kept for the elements to come. */\n"
    "struct @N_scan {\n"
    "  uint32_t count[SCAN_LEVELS];\n"
    "  @T before[SCAN_LEVELS];\n"
    "  @T step[SCAN_LEVELS][6][32];\n"
    "};\n\n"
    "@Svoid @N_restart(struct @N_scan *s) {\n"
    "  for (int level = 0; level < SCAN_LEVELS; level++) {\n"
    "    s->count[level] = 0;\n"
    "    s->before[level] = @P;\n"
    "  }\n"
    "}\n\n"
    "/* What is before the next element of a level. */\n"
    "@Sinline @T @N_prefix(const struct @N_scan *s, int level) {\n"
    "  const uint32_t c = s->count[level];\n"
    "  const int last = level == 0 ? 3 : 5;\n"
    "  return c == 0 ? s->before[level] : @N(s->before[level], s->step[level][last][c - 1]);\n"
    "}\n\n"
    "@Svoid @N_take(struct @N_scan *s, int level, @T x) {\n"
    "  const int steps = level == 0 ? 3 : 5;\n"
    "  const uint32_t c = s->count[level]++;\n"
    "  s->step[level][0][c] = x;\n"
    "  for (int k = 0; k < steps; k++) {\n"
    "    const uint32_t d = 1U << k;\n"
    "    if (c >= d) x = @N(s->step[level][k][c - d], x);\n"
    "    s->step[level][k + 1][c] = x;\n"
    "  }\n"
    "  if (c + 1 < 1U << steps) return;\n"
    "  @N_take(s, level + 1, x); /* the window's total */\n"
    "  s->before[level] = @N_prefix(s, level + 1);\n"
    "  s->count[level] = 0;\n"
    "}\n\n";

static const char cursor_text[] =
    "/* The place of an element under a descriptor: its segment, its offset there, and where "
    "the\n"
    " * segment of the same number begins under another descriptor. */\n"
    "struct cursor {\n"
    "  const int64_t *lengths, *far;\n"
    "  uint64_t segment, offset, left, far_start;\n"
    "};\n\n"
    "static inline struct cursor cursor_begin(const int64_t *lengths, uint64_t count,\n"
    "                                         const int64_t *far) {\n"
    "  const uint64_t left = count == 0 ? 0 : (uint64_t)lengths[0];\n"
    "  return (struct cursor){lengths, far, 0, (uint64_t)0 - 1, left, 0};\n"
    "}\n\n"
    "/* On to the next element, which there is. */\n"
    "static inline void cursor_next(struct cursor *c) {\n"
    "  c->offset++;\n"
    "  while (c->left == 0) {\n"
    "    if (c->far) c->far_start += (uint64_t)c->far[c->segment];\n"
    "    c->segment++;\n"
    "    c->left = (uint64_t)c->lengths[c->segment];\n"
    "    c->offset = 0;\n"
    "  }\n"
    "  c->left--;\n"
    "}\n\n";

static const char common_text[] =
    "static inline uint64_t total(const int64_t *lengths, uint64_t count) {\n"
    "  uint64_t sum = 0;\n"
    "  for (uint64_t k = 0; k < count; k++) sum += (uint64_t)lengths[k];\n"
    "  return sum;\n"
    "}\n\n"
    "/* Of one operation the first fault stays. */\n"
    "static inline void note(struct ravel_fault *f, int kind, uint32_t node, uint64_t "
    "position,\n"
    "                        int64_t value, uint64_t limit, uint64_t segment) {\n"
    "  if (f->kind != RAVEL_OK) return;\n"
    "  *f = (struct ravel_fault){kind, node, position, value, (int64_t)limit, segment};\n"
    "}\n\n";

static const char cuda_common_text[] =
    "/* ---- what kernels share ---- */\n\n"
    "/* Memory for the time of a call. */\n"
    "struct scratch {\n"
    "  cudaStream_t stream;\n"
    "  cudaError_t error = cudaSuccess;\n"
    "  int count = 0;\n"
    "  void *items[64];\n"
    "  explicit scratch(cudaStream_t s) : stream(s) {}\n"
    "  ~scratch() {\n"
    "    while (count > 0) cudaFreeAsync(items[--count], stream);\n"
    "  }\n"
    "  template <class T> T *take(uint64_t n, int fill) {\n"
    "    void *p = nullptr;\n"
    "    const size_t bytes = (n + 1) * sizeof(T);\n"
    "    if (error == cudaSuccess && count == 64) error = cudaErrorMemoryAllocation;\n"
    "    if (error == cudaSuccess) error = cudaMallocAsync(&p, bytes, stream);\n"
    "    if (error != cudaSuccess) return nullptr;\n"
    "    items[count++] = p;\n"
    "    error = cudaMemsetAsync(p, fill, bytes, stream);\n"
    "    return static_cast<T *>(p);\n"
    "  }\n"
    "#ifdef CUB_VERSION\n"
    "  /* Instead of flags, how many are set before each. */\n"
    "  void positions(uint64_t *flags, uint64_t n) {\n"
    "    size_t bytes = 0;\n"
    "    if (error == cudaSuccess) {\n"
    "      error = cub::DeviceScan::ExclusiveSum(nullptr, bytes, flags, flags, n, stream);\n"
    "    }\n"
    "    void *room = take<char>(bytes, 0);\n"
    "    if (error == cudaSuccess) {\n"
    "      error = cub::DeviceScan::ExclusiveSum(room, bytes, flags, flags, n, stream);\n"
    "    }\n"
    "  }\n"
    "#endif\n"
    "};\n\n"
    "static inline unsigned grid(uint64_t threads) {\n"
    "  const uint64_t blocks = (threads + 255) / 256;\n"
    "  return blocks < 1 ? 1 : blocks > 65536 ? 65536 : (unsigned)blocks;\n"
    "}\n\n"
    "/* The segment of place i: the last that begins at or before it. */\n"
    "static __device__ uint64_t segment_of(const int64_t *offsets, uint64_t n, uint64_t i) {\n"
    "  uint64_t low = 0, high = n;\n"
    "  while (high - low > 1) {\n"
    "    const uint64_t middle = low + (high - low) / 2;\n"
    "    if ((uint64_t)offsets[middle] <= i) low = middle;\n"
    "    else high = middle;\n"
    "  }\n"
    "  return low;\n"
    "}\n\n"
    "/* A segment of n places has its blocks of BLOCK places in slots of its own, from slot\n"
    " * start / BLOCK + segment on: at least as many as it needs. */\n"
    "static __device__ uint64_t slot_segment(const int64_t *offsets, uint64_t n, uint64_t "
    "slot) {\n"
    "  uint64_t low = 0, high = n;\n"
    "  while (high - low > 1) {\n"
    "    const uint64_t middle = low + (high - low) / 2;\n"
    "    if ((uint64_t)offsets[middle] / BLOCK + middle <= slot) low = middle;\n"
    "    else high = middle;\n"
    "  }\n"
    "  return low;\n"
    "}\n\n"
    "static __device__ void note(uint64_t *fault, uint64_t place) {\n"
    "  atomicMin((unsigned long long *)fault, (unsigned long long)place);\n"
    "}\n\n"
    "#define NOWHERE UINT64_MAX\n"
    "#define EACH_PLACE(i, n)                                                      \\\n"
    "  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);      \\\n"
    "  i += (uint64_t)gridDim.x * blockDim.x\n\n"
    "/* The places that are kept: those after which one more is. */\n"
    "template <class T>\n"
    "__global__ void compact(uint64_t n, const uint64_t *position, const T *x, T *out) {\n"
    "  for (EACH_PLACE(i, n)) {\n"
    "    if (position[i + 1] != position[i]) out[position[i]] = x[i];\n"
    "  }\n"
    "}\n\n"
    "static __global__ void kept_lengths(uint64_t segments, const int64_t *offsets,\n"
    "                                    const uint64_t *position, int64_t *out) {\n"
    "  for (EACH_PLACE(s, segments)) {\n"
    "    out[s] = (int64_t)(position[offsets[s + 1]] - position[offsets[s]]);\n"
    "  }\n"
    "}\n\n"
    "/* Every source whose target it owns goes there; `twice` notes the others, if not null. "
    "*/\n"
    "template <class T>\n"
    "__global__ void deliver(uint64_t n, const uint64_t *target, const unsigned long long "
    "*owner,\n"
    "                        const T *x, T *out, uint64_t *twice) {\n"
    "  for (EACH_PLACE(i, n)) {\n"
    "    if (target[i] == NOWHERE) continue;\n"
    "    const bool owns = owner[target[i]] == i + 1;\n"
    "    if (owns && out != nullptr) out[target[i]] = x[i];\n"
    "    if (!owns && twice != nullptr) note(twice, i);\n"
    "  }\n"
    "}\n\n";

static const char cuda_reduction_text[] =
    "static __device__ @T @N_fold(@T lane) {\n"
    "  for (int w = 16; w >= 1; w /= 2) lane = @N(lane, (@T)__shfl_down_sync(~0U, lane, w));\n"
    "  return lane;\n"
    "}\n\n"
    "/* From the results of blocks to those of segments, a warp for each: blocks of blocks. "
    "*/\n"
    "static __global__ void @N_totals(@T *total, const int64_t *offsets, uint64_t segments,\n"
    "                                 @T identity, @T *out) {\n"
    "  const uint64_t j = threadIdx.x % 32, warps = (uint64_t)gridDim.x * blockDim.x / 32;\n"
    "  uint64_t s = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;\n"
    "  for (; s < segments; s += warps) {\n"
    "    const uint64_t start = (uint64_t)offsets[s], length = (uint64_t)offsets[s + 1] - "
    "start;\n"
    "    @T *x = total + start / BLOCK + s;\n"
    "    uint64_t n = (length + BLOCK - 1) / BLOCK;\n"
    "    while (n > 1) {\n"
    "      const uint64_t blocks = (n + BLOCK - 1) / BLOCK;\n"
    "      for (uint64_t k = 0; k < blocks; k++) {\n"
    "        @T lane = @P;\n"
    "        for (uint64_t i = k * BLOCK + j; i < n && i < (k + 1) * BLOCK; i += 32) {\n"
    "          lane = @N(lane, x[i]);\n"
    "        }\n"
    "        lane = @N_fold(lane);\n"
    "        __syncwarp();\n"
    "        if (j == 0) x[k] = lane;\n"
    "        __syncwarp();\n"
    "      }\n"
    "      n = blocks;\n"
    "    }\n"
    "    if (j == 0) out[s] = length == 0 ? identity : x[0];\n"
    "  }\n"
    "}\n\n";

static const char cuda_scan_text[] =
    "/* Prefixes of each segment, a warp for each segment: at a time 32 windows of 8 "
    "elements,\n"
    " * one for each lane; the windows above are kept by every lane alike. x and out may be "
    "the\n"
    " * same. */\n"
    "static __global__ void @N_prefixes(const @T *x, const int64_t *offsets, uint64_t "
    "segments,\n"
    "                                   @T identity, @T *out) {\n"
    "  const uint64_t j = threadIdx.x % 32, warps = (uint64_t)gridDim.x * blockDim.x / 32;\n"
    "  uint64_t s = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;\n"
    "  struct @N_scan above;\n"
    "  for (; s < segments; s += warps) {\n"
    "    const uint64_t start = (uint64_t)offsets[s], end = (uint64_t)offsets[s + 1];\n"
    "    @N_restart(&above);\n"
    "    for (uint64_t first = start; first < end; first += 256) {\n"
    "      const uint64_t mine = first + 8 * j;\n"
    "      @T a[8];\n"
    "      for (int k = 0; k < 8; k++) a[k] = mine + k < end ? x[mine + k] : (@T)(@P);\n"
    "      for (int d = 1; d < 8; d *= 2) {\n"
    "        for (int k = 7; k >= d; k--) a[k] = @N(a[k - d], a[k]);\n"
    "      }\n"
    "      @T window = a[7];\n"
    "      for (unsigned d = 1; d < 32; d *= 2) {\n"
    "        const @T left = (@T)__shfl_up_sync(~0U, window, d);\n"
    "        if (j >= d) window = @N(left, window);\n"
    "      }\n"
    "      const @T all = @N_prefix(&above, 1);\n"
    "      const @T left = (@T)__shfl_up_sync(~0U, window, 1);\n"
    "      const @T before = j == 0 ? all : @N(all, left);\n"
    "      for (int k = 0; k < 8; k++) {\n"
    "        if (mine + k >= end) break;\n"
    "        out[mine + k] = mine + k == start ? identity : k == 0 ? before : @N(before, a[k - "
    "1]);\n"
    "      }\n"
    "      @N_take(&above, 1, (@T)__shfl_sync(~0U, window, 31));\n"
    "    }\n"
    "  }\n"
    "}\n\n";

const char *emit_combination_name(const struct combine_row *row) {
  switch (row->op) {
  case OP_ADD: return "add";
  case OP_MUL: return "mul";
  case OP_MAX: return "max";
  case OP_MIN: return "min";
  case OP_AND: return "and";
  case OP_OR: return "or";
  default: return "xor";
  }
}

bool emit_is_ordered(const struct superop_node *node) {
  return (node->role == ROLE_REDUCE || node->role == ROLE_SCAN) &&
         !emit_combination(node)->exact;
}

static const char class_letters[] = "ifb";

/* A text with its parameters filled in. */
static void fill(const char *text, const struct combine_row *row, struct widths w, bool cuda,
                 FILE *out) {
  for (; *text != '\0'; text++) {
    if (*text != '@') {
      fputc(*text, out);
      continue;
    }
    switch (*++text) {
    case 'T': fputs(emit_type(w, (enum superop_kind)row->klass), out); break;
    case 'N':
      fprintf(out, "%s_%c", emit_combination_name(row), class_letters[row->klass]);
      break;
    case 'S': fputs(cuda ? "static __device__ " : "static ", out); break;
    default: fputs(row->pad, out);
    }
  }
}

/* Whether any node combines so in this role. */
static bool is_needed(const struct superop *const *ops, uint32_t count,
                      const struct combine_row *row, enum superop_role role) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < ops[i]->node_count; k++) {
      const struct superop_node *node = &ops[i]->nodes[k];
      if (node->role == role && emit_combination(node) == row) return true;
    }
  }
  return false;
}

/* The functions of one combination. */
static void emit_one(const struct superop *const *ops, uint32_t count,
                     const struct combine_row *row, struct widths w, bool cuda, FILE *out) {
  static const char *const xy[] = {"x", "y"};
  bool reduces = is_needed(ops, count, row, ROLE_REDUCE),
       scans = is_needed(ops, count, row, ROLE_SCAN);
  if (!reduces && !scans) return;
  fill(combine_text, row, w, cuda, out);
  emit_expression(row->expression, 2, xy, out);
  fputs(");\n}\n\n", out);
  if (cuda && reduces) fill(cuda_reduction_text, row, w, cuda, out);
  if (scans && (cuda || !row->exact)) fill(scan_text, row, w, cuda, out);
  if (cuda && scans) fill(cuda_scan_text, row, w, cuda, out);
  if (!cuda && reduces && !row->exact) fill(reduction_text, row, w, cuda, out);
}

void emit_helpers(const struct superop *const *ops, uint32_t count, struct widths w, bool cuda,
                  FILE *out) {
  size_t rows;
  const struct combine_row *row = combine_rows(&rows);
  if (!cuda) {
    fputs("#ifdef __GNUC__ /* not all of these are used */\n"
          "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
          "#endif\n\n",
          out);
  }
  fputs("enum { BLOCK = 1024, TREE_LEVELS = 7, SCAN_LEVELS = 14 };\n\n", out);
  if (cuda) {
    fputs(cuda_common_text, out);
  } else {
    fputs(common_text, out);
    fputs(cursor_text, out);
  }
  for (; rows-- > 0; row++) emit_one(ops, count, row, w, cuda, out);
}
