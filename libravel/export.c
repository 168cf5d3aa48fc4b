/* export.c - ravel_export: values of the back end as arrays of Arrow. */
#include "libravel/private.h"

#include "libravel/export.h"

struct exported {
  struct ravel_context *context;
  const struct ravel_value *value;
  const uint64_t *lengths; /* of its columns */
};

static enum ravel_code copy_value_elements(void *with, uint32_t column, uint64_t first,
                                           uint64_t n, void *to) {
  const struct exported *x = with;
  struct ravel_context *c = x->context;
  if (n == 0) return RAVEL_OK;
  if (machine_value_copy(c->machine, &x->value->columns[column], first, n, to, c->diags)) {
    return RAVEL_OK;
  }
  return ravel_fail_machine(c);
}

static bool export_value_elements(void *with, uint32_t column, struct cvl_export *exported) {
  const struct exported *x = with;
  const uint64_t bytes =
      x->lengths[column] * elem_info((enum cvl_elem)x->value->columns[column].elem)->bytes;
  return bytes >= RAVEL_WORTH_BORROWING &&
         ravel_export_vector(x->context, &x->value->columns[column], exported);
}

static enum ravel_code export_value(struct exported *x, struct ArrowSchema *schema,
                                    struct ArrowArray *array) {
  struct ravel_context *c = x->context;
  struct export e = {.type = x->value->type,
                     .lengths = x->lengths,
                     .int_elem = c->options.machine.widths.int_elem,
                     .float_elem = c->options.machine.widths.float_elem,
                     .copy = copy_value_elements,
                     .export_vector = export_value_elements,
                     .with = x};
  const enum ravel_code code = export_sequence(&e, schema, array);
  if (code == RAVEL_OK || !*e.problem) return code;
  return ravel_fail(c, code, "a value of type %s cannot be exported: %s",
                    ravel_type_text(x->value->type), e.problem);
}

enum ravel_code ravel_export(struct ravel_context *c, const struct ravel_value *value,
                             struct ArrowSchema *schema, struct ArrowArray *array) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!ravel_value_is_ours(c, value)) return RAVEL_MISUSE;
  if (!schema || !array) return ravel_fail(c, RAVEL_MISUSE, "an argument is NULL");
  struct exported x = {c, value, NULL};
  const size_t bytes = value->count * sizeof(uint64_t);
  uint64_t *lengths = heap_alloc(&c->heap, bytes);
  if (!lengths) return ravel_fail_memory(c);
  bool counted = true;
  for (uint32_t i = 0; counted && i < value->count; i++) {
    counted = machine_value_count(c->machine, &value->columns[i], &lengths[i], c->diags);
  }
  x.lengths = lengths;
  const enum ravel_code code =
      counted ? export_value(&x, schema, array) : ravel_fail_machine(c);
  heap_free(&c->heap, lengths, bytes);
  return code;
}
