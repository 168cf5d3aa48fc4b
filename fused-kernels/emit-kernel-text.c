/* emit-kernel-text.c - what comes before the kernels in their file: the prelude, what the
 * expressions of operations.def are written in, the elementary functions, the combinations.
 *
 * The elementary functions are C; here they are made C++ for the device and for hosts, line by
 * line. NVRTC has no header, no 128-bit integers without an option, and no builtins of gcc.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "fused-kernels/emit-expression.h"

#include <string.h>

extern const char *const fused_prelude_text[];
extern const char *const fused_elementary_text[];

static const char basic_text[] =
    "#if defined(__CUDACC_RTC__)\n"
    "#define INT32_MAX   2147483647\n"
    "#define INT32_MIN   (-INT32_MAX - 1)\n"
    "#define INT64_MAX   9223372036854775807LL\n"
    "#define INT64_MIN   (-INT64_MAX - 1)\n"
    "#define INT64_C(x)  x##LL\n"
    "#define NAN         __longlong_as_double(0x7ff8000000000000LL)\n"
    "#define INFINITY    __longlong_as_double(0x7ff0000000000000LL)\n"
    "#else\n"
    "#include <math.h>\n"
    "#include <string.h>\n"
    "#endif\n"
    "#if defined(__CUDACC__) || defined(__CUDACC_RTC__)\n"
    "#define EVERY_TIME   _Pragma(\"unroll\")\n"
    "#define ROLLED       _Pragma(\"unroll 1\")\n"
    "#define HERE         __device__\n"
    "#define HERE_INLINE  __device__ __forceinline__\n"
    "#else\n"
    "#pragma GCC diagnostic ignored \"-Wtautological-compare\" /* x == x */\n"
    "#define EVERY_TIME\n"
    "#define ROLLED\n"
    "#define HERE\n"
    "#define HERE_INLINE  inline __attribute__((always_inline))\n"
    "#endif\n\n";

/* Functions that are exact as in C, for text without the others. */
static const char plain_text[] =
    "HERE_INLINE double ravel_floor_f64(double x) { return floor(x); }\n"
    "HERE_INLINE double ravel_ceil_f64(double x) { return ceil(x); }\n"
    "HERE_INLINE double ravel_trunc_f64(double x) { return trunc(x); }\n"
    "HERE_INLINE double ravel_sqrt_f64(double x) { return sqrt(x); }\n"
    "HERE_INLINE float ravel_floor_f32(float x) { return floorf(x); }\n"
    "HERE_INLINE float ravel_ceil_f32(float x) { return ceilf(x); }\n"
    "HERE_INLINE float ravel_trunc_f32(float x) { return truncf(x); }\n"
    "HERE_INLINE float ravel_sqrt_f32(float x) { return sqrtf(x); }\n\n";

/* Operations of 128-bit integers that the reduction of large arguments needs. */
static const char wide_text[] =
    "#if defined(__CUDACC__) || defined(__CUDACC_RTC__)\n"
    "struct uint128 {\n"
    "  uint64_t high, low;\n"
    "  __device__ explicit uint128(uint64_t x) : high(0), low(x) {}\n"
    "  __device__ uint128(uint64_t h, uint64_t l) : high(h), low(l) {}\n"
    "  __device__ explicit operator uint64_t() const { return low; }\n"
    "  __device__ uint128 operator*(uint64_t y) const {\n"
    "    return uint128(high * y + __umul64hi(low, y), low * y);\n"
    "  }\n"
    "  __device__ uint128 operator+(uint64_t y) const {\n"
    "    return uint128(high + (low + y < low ? 1 : 0), low + y);\n"
    "  }\n"
    "  __device__ uint128 operator|(uint64_t y) const { return uint128(high, low | y); }\n"
    "  __device__ uint128 operator<<(unsigned k) const {\n"
    "    if (k == 0) return *this;\n"
    "    if (k >= 64) return uint128(low << (k - 64), 0);\n"
    "    return uint128(high << k | low >> (64 - k), low << k);\n"
    "  }\n"
    "  __device__ uint128 operator>>(unsigned k) const { /* 64 is all that is asked for */\n"
    "    return k == 64 ? uint128(0, high) : *this;\n"
    "  }\n"
    "};\n"
    "#else\n"
    "__extension__ typedef unsigned __int128 uint128;\n"
    "#endif\n";

/* ---- the elementary functions ---- */

/* A line without `(struct T){`, which is C only: T{. */
static void without_literals(const char *line, FILE *out) {
  const char *literal;
  while ((literal = strstr(line, "(struct ")) != NULL) {
    const char *name = literal + strlen("(struct "), *end = strchr(name, ')');
    if (end == NULL || end[1] != '{') break;
    fwrite(line, 1, (size_t)(literal - line), out);
    fwrite(name, 1, (size_t)(end - name), out);
    line = end + 1;
  }
  fputs(line, out);
}

/* A line of the C text as it is wanted here: without includes, and for the device as for hosts.
 */
static void elementary_line(const char *line, FILE *out) {
  static const struct {
    const char *begin, *instead;
  } changes[] = {
      {"#include", ""},
      {"extern \"C\"", ""},
      {"__extension__ typedef unsigned __int128", wide_text},
      {"#define E_INLINE ", "#define E_INLINE HERE_INLINE\n"},
      {"#define E_PRIVATE ", "#define E_PRIVATE HERE inline\n"},
      {"#define E_PUBLIC", "#define E_PUBLIC HERE inline\n"},
  };
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    if (strncmp(line, changes[i].begin, strlen(changes[i].begin)) != 0) continue;
    fputs(changes[i].instead, out);
    return;
  }
  without_literals(line, out);
}

/* elementary.h declares the function that elementary.c defines; where a device needs the text
 * it includes it, which is not seen here: hence a declaration. */
static void emit_kernel_text_elementary(FILE *out) {
  fputs("struct e_angle;\nHERE inline e_angle elementary_reduce(double x);\n", out);
  for (const char *const *line = fused_elementary_text; *line != NULL; line++) {
    elementary_line(*line, out);
  }
}

/* ---- what expressions are written in ---- */

/* The faults that a kernel notes: of indices, of ASSERTs, and of the rows of operations.def. */
static void fault_numbers(FILE *out) {
  size_t count;
  const struct map_row *rows = map_rows(&count);
  uint64_t written = 1u << CVL_E_NONE; /* set of faults */
  fprintf(out, "enum { OUTSIDE = %d, FALSE_FLAG = %d", CVL_E_INDEX, CVL_E_ASSERT);
  for (size_t i = 0; i < count; i++) {
    const enum cvl_error_kind fault = rows[i].fault;
    if (!(written >> fault & 1)) fprintf(out, ", %s = %d", fault_name(fault), fault);
    written |= UINT64_C(1) << fault;
  }
  fputs(" };\n", out);
}

static bool reduces_by(const struct superop *const *ops, uint32_t count,
                       const struct combine_row *row) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < ops[i]->node_count; k++) {
      const struct superop_node *node = &ops[i]->nodes[k];
      if (node->role == ROLE_REDUCE && emit_combination(node) == row) return true;
    }
  }
  return false;
}

/* For each combination that reductions use, the function that combines two elements. */
static void combinations(const struct superop *const *ops, uint32_t count, struct widths w,
                         FILE *out) {
  static const char *const operands[] = {"x", "y"};
  size_t rows;
  const struct combine_row *row = combine_rows(&rows);
  for (; rows-- > 0; row++) {
    if (!reduces_by(ops, count, row)) continue;
    const char *type = emit_type(w, (enum superop_kind)row->klass);
    fprintf(out, "HERE_INLINE %s ", type);
    emit_combination_name(row, out);
    fprintf(out, "(%s x, %s y) {\n  return (%s)(", type, type, type);
    emit_expression(row->expression, 2, operands, out);
    fputs(");\n}\n\n", out);
  }
}

void fused_emit_kernel_prelude(const struct superop *const *ops, uint32_t count,
                               struct widths widths, FILE *out) {
  struct emit_needs needs = {false};
  for (uint32_t i = 0; i < count; i++) emit_add_needs(&needs, ops[i]);
  for (const char *const *line = fused_prelude_text; *line != NULL; line++) fputs(*line, out);
  fputs(basic_text, out);
  emit_kernel_plain(out);
  if (needs.functions)
    emit_kernel_text_elementary(out);
  else
    fputs(plain_text, out);
  fault_numbers(out);
  emit_macros(widths, "HERE_INLINE", out);
  combinations(ops, count, widths, out);
  emit_kernel_trees(ops, count, out);
}
