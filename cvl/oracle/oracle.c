/* oracle.c - values in host memory, and the operations that need no file of their own. */
#include "cvl/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

struct host_value host_vector(struct heap *heap, enum cvl_elem elem, uint64_t n) {
  struct host_value v = {.form = HOST_VECTOR, .elem = (uint8_t)elem, .n = n};
  v.data = n > SIZE_MAX / 8 ? NULL : heap_alloc(heap, host_bytes(&v));
  if (!v.data) v.form = HOST_NOTHING;
  return v;
}

struct host_value host_segdes(struct heap *heap, uint64_t n) {
  struct host_value d = host_vector(heap, CVL_I64, n);
  if (d.form != HOST_NOTHING) d.form = HOST_SEGDES;
  return d;
}

size_t host_bytes(const struct host_value *v) {
  return (size_t)v->n * elem_info((enum cvl_elem)v->elem)->bytes;
}

void host_free(struct heap *heap, struct host_value *v) {
  if (v->form != HOST_NOTHING) heap_free(heap, v->data, host_bytes(v));
  *v = (struct host_value){0};
}

int64_t host_int(const struct host_value *v, uint64_t i) {
  switch ((enum cvl_elem)v->elem) {
  case CVL_I32: return ((const int32_t *)v->data)[i];
  case CVL_I64: return ((const int64_t *)v->data)[i];
  case CVL_BOOL: return ((const uint8_t *)v->data)[i];
  case CVL_F32:
  case CVL_F64:
  case CVL_ELEM_COUNT: break;
  }
  abort();
}

double host_real(const struct host_value *v, uint64_t i) {
  return v->elem == CVL_F32 ? (double)((const float *)v->data)[i]
                            : ((const double *)v->data)[i];
}

void host_put_int(struct host_value *v, uint64_t i, int64_t x) {
  switch ((enum cvl_elem)v->elem) {
  case CVL_I32: ((int32_t *)v->data)[i] = (int32_t)(uint32_t)(uint64_t)x; return;
  case CVL_I64: ((int64_t *)v->data)[i] = x; return;
  case CVL_BOOL: ((uint8_t *)v->data)[i] = (uint8_t)x; return;
  case CVL_F32:
  case CVL_F64:
  case CVL_ELEM_COUNT: break;
  }
  abort();
}

void host_put_real(struct host_value *v, uint64_t i, double x) {
  if (v->elem == CVL_F32) {
    ((float *)v->data)[i] = (float)x;
  } else {
    ((double *)v->data)[i] = x;
  }
}

void host_copy(struct host_value *dst, uint64_t i, const struct host_value *src, uint64_t j) {
  size_t bytes = elem_info((enum cvl_elem)dst->elem)->bytes;
  memcpy((char *)dst->data + i * bytes, (const char *)src->data + j * bytes, bytes);
}

void host_zero(struct host_value *dst, uint64_t i) {
  size_t bytes = elem_info((enum cvl_elem)dst->elem)->bytes;
  memset((char *)dst->data + i * bytes, 0, bytes);
}

uint64_t host_segment(const struct host_value *d, uint64_t k) {
  return (uint64_t)((const int64_t *)d->data)[k];
}

/* ---- faults ---- */

bool oracle_no_memory(struct heap *heap, struct oracle_outcome *o, size_t bytes) {
  for (unsigned r = 0; r < CALL_RESULTS; r++) host_free(heap, &o->out[r]);
  o->error = (struct cvl_error){
      .kind = CVL_E_MEMORY, .value = (int64_t)bytes, .limit = (int64_t)heap->limit};
  return false;
}

static bool oracle_fails(struct heap *heap, struct oracle_outcome *o, struct cvl_error e) {
  for (unsigned r = 0; r < CALL_RESULTS; r++) host_free(heap, &o->out[r]);
  o->error = e;
  return false;
}

/* ---- operations ---- */

static bool run_elementwise(struct heap *heap, const struct oracle_call *c,
                            struct oracle_outcome *o) {
  for (uint64_t i = 0; i < o->out[0].n; i++) {
    if (!oracle_element(c, &o->out[0], i)) {
      return oracle_fails(
          heap, o, (struct cvl_error){.kind = CVL_E_DIVIDE_BY_ZERO, .position = (int64_t)i});
    }
  }
  return true;
}

static bool run_dist(const struct oracle_call *c, struct oracle_outcome *o) {
  uint64_t at = 0;
  for (uint64_t k = 0; k < c->operand[1].n; k++) {
    for (uint64_t j = 0; j < host_segment(&c->operand[1], k); j++) {
      host_copy(&o->out[0], at++, &c->operand[0], k);
    }
  }
  return true;
}

static bool run_index(const struct oracle_call *c, struct oracle_outcome *o) {
  uint64_t at = 0;
  for (uint64_t k = 0; k < c->operand[2].n; k++) {
    uint64_t start = (uint64_t)host_int(&c->operand[0], k);
    uint64_t stride = (uint64_t)host_int(&c->operand[1], k);
    for (uint64_t j = 0; j < host_segment(&c->operand[2], k); j++) {
      host_put_int(&o->out[0], at++, (int64_t)(start + j * stride));
    }
  }
  return true;
}

static bool run_make_segdes(struct heap *heap, const struct oracle_call *c,
                            struct oracle_outcome *o) {
  uint64_t total = 0;
  for (uint64_t k = 0; k < c->operand[0].n; k++) {
    int64_t length = host_int(&c->operand[0], k);
    if (length < 0) {
      return oracle_fails(heap, o,
                          (struct cvl_error){.kind = CVL_E_NEGATIVE_LENGTH,
                                             .position = (int64_t)k,
                                             .value = length});
    }
    total += (uint64_t)length; /* below 2^64, since both are below 2^63 */
    if (total > INT64_MAX) {
      return oracle_fails(heap, o,
                          (struct cvl_error){.kind = CVL_E_TOTAL, .position = (int64_t)k});
    }
    host_put_int(&o->out[0], k, length);
  }
  o->out[0].total = total;
  return true;
}

static bool run_lengths(struct heap *heap, const struct oracle_call *c,
                        struct oracle_outcome *o) {
  for (uint64_t k = 0; k < c->operand[0].n; k++) {
    uint64_t length = host_segment(&c->operand[0], k);
    if (c->int_elem == CVL_I32 && length > INT32_MAX) {
      return oracle_fails(heap, o,
                          (struct cvl_error){.kind = CVL_E_INT_RANGE,
                                             .position = (int64_t)k,
                                             .value = (int64_t)length});
    }
    host_put_int(&o->out[0], k, (int64_t)length);
  }
  return true;
}

static bool run_length_of(struct heap *heap, const struct oracle_call *c,
                          struct oracle_outcome *o) {
  uint64_t n = c->operand[0].n;
  if (c->int_elem == CVL_I32 && n > INT32_MAX) {
    return oracle_fails(heap, o,
                        (struct cvl_error){.kind = CVL_E_INT_RANGE, .value = (int64_t)n});
  }
  host_put_int(&o->out[0], 0, (int64_t)n);
  return true;
}

static bool run_assert(struct heap *heap, const struct oracle_call *c,
                       struct oracle_outcome *o) {
  for (uint64_t i = 0; i < c->operand[0].n; i++) {
    if (!host_int(&c->operand[0], i)) {
      return oracle_fails(heap, o,
                          (struct cvl_error){.kind = CVL_E_ASSERT,
                                             .position = (int64_t)i,
                                             .value = host_int(&c->operand[1], i),
                                             .limit = host_int(&c->operand[2], i)});
    }
  }
  return true;
}

/* ---- random numbers ---- */

void oracle_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)0xD2511F53 * c0, b = (uint64_t)0xCD9E8D57 * c2;
    uint32_t high_a = (uint32_t)(a >> 32), low_a = (uint32_t)a;
    uint32_t high_b = (uint32_t)(b >> 32), low_b = (uint32_t)b;
    c0 = high_b ^ c1 ^ k0;
    c1 = low_b;
    c2 = high_a ^ c3 ^ k1;
    c3 = low_a;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* Returns the high 64 bits of a * b, by long multiplication. */
static uint64_t multiply_high(uint64_t a, uint64_t b) {
  uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
  uint64_t low = a0 * b0;
  uint64_t middle = a1 * b0 + (low >> 32);
  uint64_t middle2 = a0 * b1 + (middle & UINT32_MAX);
  return a1 * b1 + (middle >> 32) + (middle2 >> 32);
}

static bool oracle_run_random(struct heap *heap, const struct oracle_call *c,
                              struct oracle_outcome *o) {
  const uint32_t key[2] = {(uint32_t)c->random.seed, (uint32_t)(c->random.seed >> 32)};
  for (uint64_t j = 0; j < c->operand[0].n; j++) {
    int64_t bound = host_int(&c->operand[0], j);
    if (bound <= 0) {
      return oracle_fails(
          heap, o,
          (struct cvl_error){.kind = CVL_E_BOUND, .position = (int64_t)j, .value = bound});
    }
    const uint64_t position = c->random.first + j, k = c->random.k;
    const uint32_t counter[4] = {(uint32_t)position, (uint32_t)(position >> 32), (uint32_t)k,
                                 (uint32_t)(k >> 32)};
    uint32_t block[4];
    oracle_philox(counter, key, block);
    uint64_t x = c->int_elem == CVL_I32
                     ? (uint64_t)block[0] * (uint64_t)bound >> 32
                     : multiply_high((uint64_t)block[1] << 32 | block[0], (uint64_t)bound);
    host_put_int(&o->out[0], j, (int64_t)x);
  }
  return true;
}

/* ---- all of them ---- */

/* Returns the length of the first result: vcode.md, sections 6 to 9. */
static uint64_t oracle_result_length(const struct oracle_call *c) {
  const struct host_value *v = c->operand;
  switch (c->kind) {
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    return call_gives_one_per_segment(c->kind) ? v[1].n : v[0].n;
  case CALL_PERMUTE: return v[5].total;
  case CALL_EXTRACT: return v[2].n;
  case CALL_DIST: return v[1].total;
  case CALL_INDEX: return v[2].total;
  case CALL_LENGTH_OF: return 1;
  case CALL_PACK: {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < v[1].n; i++) kept += (uint64_t)host_int(&v[1], i);
    return kept;
  }
  case CALL_ELEMENTWISE:
  case CALL_REPLACE:
  case CALL_MAKE_SEGDES:
  case CALL_LENGTHS:
  case CALL_RANDOM:
  case CALL_ASSERT:
  case CALL_KINDS: break;
  }
  return v[0].n;
}

static bool oracle_oracle_run(struct heap *heap, const struct oracle_call *c,
                              struct oracle_outcome *o) {
  static bool (*const segmented[CALL_KINDS])(struct heap *, const struct oracle_call *,
                                             struct oracle_outcome *) = {
#define SEGMENTED(kind, function) [CALL_##kind] = oracle_##function,
#include "cvl/segmented.def"
  };
  switch (c->kind) {
  case CALL_ELEMENTWISE: return run_elementwise(heap, c, o);
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    return segmented[c->kind](heap, c, o);
  case CALL_PERMUTE: return oracle_permute(heap, c, o);
  case CALL_EXTRACT: return oracle_extract(heap, c, o);
  case CALL_REPLACE: return oracle_replace(heap, c, o);
  case CALL_PACK: return oracle_pack(heap, c, o);
  case CALL_DIST: return run_dist(c, o);
  case CALL_INDEX: return run_index(c, o);
  case CALL_MAKE_SEGDES: return run_make_segdes(heap, c, o);
  case CALL_LENGTHS: return run_lengths(heap, c, o);
  case CALL_LENGTH_OF: return run_length_of(heap, c, o);
  case CALL_RANDOM: return oracle_run_random(heap, c, o);
  case CALL_ASSERT: return run_assert(heap, c, o);
  case CALL_KINDS: break;
  }
  return false;
}

bool oracle_run(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  *o = (struct oracle_outcome){0};
  unsigned last = c->kind == CALL_ELEMENTWISE ? c->count - 1 : 0;
  enum cvl_elem elem = call_result_elem(c->kind, c->op, (enum cvl_elem)c->operand[last].elem,
                                        c->int_elem, c->float_elem);
  for (unsigned r = 0; r < call_results(c->kind); r++) {
    uint64_t n =
        r == 1 ? c->operand[2].n : oracle_result_length(c); /* only PACK has a second result */
    o->out[r] =
        call_gives_segdes(c->kind, r) ? host_segdes(heap, n) : host_vector(heap, elem, n);
    if (o->out[r].form == HOST_NOTHING) return oracle_no_memory(heap, o, (size_t)n * 8);
  }
  return oracle_oracle_run(heap, c, o);
}
