/* transfer.c - values to host memory and back, for constants, input and output. */
#include "vinterp/machine/machine-private.h"

bool machine_length(struct machine *m, const struct machine_site *site, const struct value *v,
                    uint64_t *n) {
  struct cvl_size size = {.bound = 1};
  switch (v->form) {
  case CVL_VECTOR: size = m->backend->length(m->context, &v->flat); break;
  case CVL_SEGDES: size = m->backend->count(m->context, &v->flat); break;
  default: break;
  }
  if (size.symbol && !m->backend->resolve(m->context, &size)) {
    return machine_backend_fault(m, site);
  }
  *n = size.bound;
  return true;
}

bool machine_int(struct machine *m, const struct machine_site *site, const struct value *v,
                 int64_t *x) {
  struct cvl_value scalar = v->flat;
  if (scalar.form != CVL_SCALAR && !m->backend->scalar(m->context, &v->flat, &scalar)) {
    return machine_backend_fault(m, site);
  }
  *x = scalar.elem == CVL_BOOL ? scalar.as.b : cvl_int_of(&scalar);
  return true;
}

bool machine_to_host(struct machine *m, const struct machine_site *site, const struct value *v,
                     uint64_t first, uint64_t n, void *dst) {
  return m->backend->to_host(m->context, &v->flat, first, n, dst) ||
         machine_backend_fault(m, site);
}

/* Returns one element of host memory as a scalar. */
static struct cvl_value scalar_from(enum cvl_elem elem, const void *data) {
  switch (elem) {
  case CVL_I32: return cvl_scalar_int(elem, *(const int32_t *)data);
  case CVL_I64: return cvl_scalar_int(elem, *(const int64_t *)data);
  case CVL_F32: return cvl_scalar_float(elem, (double)*(const float *)data);
  case CVL_F64: return cvl_scalar_float(elem, *(const double *)data);
  case CVL_BOOL:
  case CVL_ELEM_COUNT: break;
  }
  return cvl_scalar_bool(*(const uint8_t *)data);
}

bool machine_from_host(struct machine *m, const struct machine_site *site, enum cvl_elem elem,
                       uint64_t n, const void *data, struct value *out) {
  if (n == 1) {
    *out = value_of(scalar_from(elem, data));
    return true;
  }
  return m->backend->from_host(m->context, site->number, elem, n, data, &out->flat) ||
         machine_backend_fault(m, site);
}

bool machine_segdes(struct machine *m, const struct machine_site *site, uint64_t n,
                    const int64_t *lengths, struct value *out) {
  if (n == 1) {
    *out = value_of(cvl_one_segment((uint64_t)lengths[0]));
    return true;
  }
  return m->backend->segdes_from_host(m->context, site->number, n, lengths, &out->flat) ||
         machine_backend_fault(m, site);
}
