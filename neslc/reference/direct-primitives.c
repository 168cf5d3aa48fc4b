/* direct-primitives.c - dispatch of the direct interpreter's primitives; effects; the base
 * cases of the functions that follow the structure of a type.
 */
#include "neslc/reference/direct-private.h"

#include <string.h>

/* ---- values ---- */

double datum_size(struct datum x) {
  switch ((enum datum_kind)x.kind) {
  case DATUM_INT:
  case DATUM_FLOAT:
  case DATUM_BOOL: return 1;
  case DATUM_PAIR: return x.as.pair->size;
  case DATUM_SEQUENCE: return x.as.sequence->size;
  case DATUM_FUNCTION: return x.as.function->size;
  }
  return 1;
}

struct datum *direct_items(struct direct *d, uint64_t count) {
  if (count >
      SIZE_MAX / sizeof(struct datum) / 2) { /* more than there is, but the arena knows */
    count = SIZE_MAX / sizeof(struct datum) / 2;
  }
  return arena_alloc(d->arena, (size_t)count * sizeof(struct datum));
}

struct datum datum_pair(struct direct *d, struct datum left, struct datum right) {
  struct datum_pair *pair = arena_alloc(d->arena, sizeof *pair);
  *pair = (struct datum_pair){left, right, datum_size(left) + datum_size(right)};
  return (struct datum){.kind = DATUM_PAIR, .as.pair = pair};
}

struct datum datum_sequence(struct direct *d, const struct datum *items, uint64_t count) {
  struct datum_sequence *s = arena_alloc(d->arena, sizeof *s);
  *s = (struct datum_sequence){count, items, 1};
  for (uint64_t i = 0; i < count; i++) s->size += datum_size(items[i]);
  return (struct datum){.kind = DATUM_SEQUENCE, .as.sequence = s};
}

struct datum datum_string(struct direct *d, const char *text, size_t length) {
  struct datum *items = direct_items(d, length);
  for (size_t i = 0; i < length; i++) items[i] = datum_int((unsigned char)text[i]);
  return datum_sequence(d, items, length);
}

/* Returns the bytes of a [char], in the arena. */
static const char *direct_text(struct direct *d, struct datum s, size_t *length) {
  const struct datum_sequence *chars = s.as.sequence;
  char *text = arena_alloc(d->arena, (size_t)chars->count + 1);
  for (uint64_t i = 0; i < chars->count; i++) text[i] = (char)chars->items[i].as.integer;
  *length = (size_t)chars->count;
  return text;
}

/* ---- derived functions ---- */

const struct derived *direct_derived(struct direct *d, const struct primitive_call *call) {
  /* Files are for compiled programs. */
  if (!is_derived(call->primitive) ||
      primitive_info(call->primitive)->effect == PRIMITIVE_SERIAL) {
    return NULL;
  }
  bool found;
  void **known = direct_memo(d, call->specialisation, call->specialisation, &found);
  if (!found) { /* derive() may move the table */
    const struct derived *made = derive(d->session, &d->derived, call->primitive,
                                        ground_argument(d, call->specialisation));
    known = direct_memo(d, call->specialisation, call->specialisation, &found);
    *known = (void *)(uintptr_t)made;
  }
  return *known;
}

/* The functions on scalars that primitives/derive.h leaves to its caller. */
static bool derived_base(struct direct *d, const struct primitive_call *call,
                         struct datum *out) {
  const struct datum *x = call->argument;
  switch ((int)call->primitive) {
  case PRIM_EQL:
  case PRIM_SAME:
    if (x[0].kind != DATUM_BOOL) return direct_operation(d, OP_EQ, x, 2, out);
    *out = datum_bool(x[0].as.integer == x[1].as.integer);
    return true;
  case PRIM_SELECT: *out = x[0].as.integer ? x[1] : x[2]; return true;
  default: return direct_scalar(d, call, out);
  }
}

/* ---- effects ---- */

/* The result of opening a file: no stream, F, and a message, which programs may print. */
static struct datum no_stream(struct direct *d) {
  static const char why[] = "the direct interpreter opens no files";
  const struct datum text = datum_string(d, why, sizeof why - 1);
  return datum_pair(d, datum_int(-1), datum_pair(d, datum_bool(false), text));
}

/* The arguments of the program, a NUL behind each. */
static struct datum argument_datum(struct direct *d) {
  ARRAY(char) text = {0};
  for (size_t i = 0; i < d->options->argument_count; i++) {
    const char *argument = d->options->arguments[i];
    do {
      *array_push(d->arena, &text) = *argument;
    } while (*argument++);
  }
  return datum_string(d, text.items, text.count);
}

static bool effect(struct direct *d, const struct primitive_call *call, struct datum *out) {
  const struct datum *x = call->argument;
  size_t length;
  const char *text;
  *out = datum_bool(true);
  switch ((int)call->primitive) {
  case PRIM_PRINT_STRING:
    text = direct_text(d, x[0], &length);
    direct_print(d, text, length);
    charge(d, (double)length, 0);
    return true;
  case PRIM_SIGNATURE:
    text = value_signature(d->arena, ground_argument(d, call->specialisation));
    *out = datum_string(d, text, strlen(text));
    return true;
  case PRIM_ERROR:
    text = direct_text(d, x[0], &length);
    return direct_fail(d, call->frame, call->apply, NESL_USER, "%s", text);
  case PRIM_CHECK:
    if (x[0].as.integer || !d->session->argument_checks) return true;
    text = check_worded(d->arena, direct_text(d, x[1], &length), direct_text(d, x[2], &length));
    return direct_fail(d, call->frame, call->apply, NESL_RUNTIME, "%s",
                       direct_worded(d, text, x[3].as.integer, x[4].as.integer));
  case PRIM_ARGUMENT_TEXT: *out = argument_datum(d); return true;
  case PRIM_OPEN_FILE: *out = no_stream(d); return true;
  case PRIM_RAND_SEED:
    d->seed = (uint64_t)x[0].as.integer;
    d->random_count = 0;
    return true;
  default:
    return direct_fail(d, call->frame, call->apply, NESL_LIMIT,
                       "`%s`: the direct interpreter knows no files and processes",
                       call->specialisation->global->name->text);
  }
}

bool direct_primitive(struct direct *d, const struct primitive_call *call, struct datum *out) {
  switch (primitive_info(call->primitive)->group) {
  case PRIMITIVE_SCALAR:
    return is_derived(call->primitive) ? derived_base(d, call, out)
                                       : direct_scalar(d, call, out);
  case PRIMITIVE_REDUCE:
  case PRIMITIVE_SCAN:
  case PRIMITIVE_RANK: return direct_reduction(d, call, out);
  case PRIMITIVE_SEQUENCE: return direct_sequence(d, call, out);
  case PRIMITIVE_EFFECT:
  case PRIMITIVE_DERIVED: break;
  }
  return effect(d, call, out);
}
