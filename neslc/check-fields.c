/* check-fields.c - fields of records, which are named: e.mass.
 *
 * What stands before the dot is an expression. A name there is a variable, a parameter or what
 * else has a value; the unbound ones are reported here.
 */
#include "neslc/check.h"

static struct core *no_field(struct checker *ck, const struct syntax *e, struct core *record) {
  complain(ck->complaints, NESL_FIELD, ck->source, e->mark, "%s has no field `%s`",
           shown(ck, record->type), e->as.field.name->text);
  return core_make(ck, CORE_INT, e, type_variable(ck->arena, CLASS_ANY));
}

static struct core *check_record_field(struct checker *ck, const struct syntax *e) {
  const uint64_t errors = ck->complaints->count;
  struct core *record = check_expression(ck, e->as.field.record);
  if (ck->complaints->count != errors) { /* reported: one error is enough */
    return core_make(ck, CORE_INT, e, type_variable(ck->arena, CLASS_ANY));
  }
  return no_field(ck, e, record);
}

/* The meaning of left.name: with a variable on the left, or with any other expression, a field
 * of its value. A name that means nothing is reported as such. */
struct core *check_field(struct checker *ck, const struct syntax *e) {
  return check_record_field(ck, e);
}
