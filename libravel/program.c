/* program.c - programs of VCODE and FCODE as functions: the columns of their types are the
 * items that the entry takes and leaves.
 */
#include "libravel/private.h"

#include "ir/kinds.h"

#include <string.h>

/* ---- items ---- */

/* The items that the entry takes or leaves, deepest first. */
struct items {
  const uint8_t *kinds; /* enum ir_kind_tag */
  uint32_t count;
  bool known; /* else neither their number nor their kinds are */
};

static struct items declared_items(struct arena *arena, uint32_t count, const uint8_t *words) {
  uint8_t *kinds = arena_alloc(arena, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    kinds[i] = (uint8_t)ir_word_tag((enum type_word)words[i]);
  }
  return (struct items){kinds, count, true};
}

static struct items inferred_items(struct arena *arena, const struct ir_function *entry,
                                   bool taken) {
  const uint32_t count = taken ? entry->param_count : entry->result_count;
  uint8_t *kinds = arena_alloc(arena, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    kinds[i] = (uint8_t)(taken ? entry->vars[entry->params[i]] : entry->result_kinds[i])->tag;
  }
  return (struct items){kinds, count, true};
}

static struct items entry_items(struct arena *arena, const struct ir_program *p, bool taken) {
  const struct ir_function *entry = &p->functions[p->entry];
  const struct vcode_function *text = &p->vcode->functions[p->vcode->entry];
  if (entry->typed && (taken || entry->returns)) return inferred_items(arena, entry, taken);
  if (!text->has_signature) return (struct items){.known = false};
  return taken ? declared_items(arena, text->in_count, text->in)
               : declared_items(arena, text->out_count, text->out);
}

/* Returns "SEGDES INT". */
static const char *items_text(struct arena *arena, const struct items *items) {
  if (items->count == 0) return "nothing";
  const char *text = "";
  for (uint32_t i = 0; i < items->count; i++) {
    text = arena_printf(arena, "%s%s%s", text, i ? " " : "",
                        ir_tag_text((enum ir_kind_tag)items->kinds[i]));
  }
  return text;
}

/* ---- types from items ---- */

static const char *item_kind_name(uint8_t kind) {
  return kind == IR_INT ? "int" : kind == IR_FLOAT ? "float" : kind == IR_BOOL ? "bool" : NULL;
}

/* Returns the types whose columns the items are, each sequence one of scalars or sequences.
 * *open: other types have the same columns. NULL if no type has. */
static const char *types_of_items(struct arena *arena, const struct items *items, bool *open) {
  const char *text = "";
  *open = false;
  for (uint32_t i = 0; i < items->count; i++) {
    uint32_t depth = 0;
    while (i < items->count && items->kinds[i] == IR_SEGDES) depth++, i++;
    const char *name = i < items->count ? item_kind_name(items->kinds[i]) : NULL;
    if (!name) return NULL;
    text = arena_printf(arena, "%s%s", text, *text ? ", " : "");
    for (uint32_t k = 0; k < depth; k++) text = arena_printf(arena, "%s[", text);
    text = arena_printf(arena, "%s%s", text, name);
    for (uint32_t k = 0; k < depth; k++) text = arena_printf(arena, "%s]", text);
    *open |= depth > 0 && i + 1 < items->count;
  }
  return text;
}

/* ---- loading ---- */

struct loading {
  const char *name, *text;
  size_t length;
  const char *takes, *gives; /* or NULL */
  struct ravel_function *f;
  struct ir_program *program;
};

static int bits_of_elem(enum cvl_elem elem) {
  enum { BYTE = 8 };
  return (int)elem_info(elem)->bytes * BYTE;
}

static enum ravel_code check_widths(struct ravel_context *c, const struct loading *l) {
  const struct widths ours = c->options.machine.widths;
  struct widths widths = ours;
  vcode_recorded_widths(l->text, l->length, &widths);
  if (widths.int_elem == ours.int_elem && widths.float_elem == ours.float_elem) return RAVEL_OK;
  return ravel_fail(c, RAVEL_TYPE,
                    "%.200s is for an INT of %d bits and a FLOAT of %d; the context has %d and "
                    "%d: see the options int and float",
                    l->name, bits_of_elem(widths.int_elem), bits_of_elem(widths.float_elem),
                    bits_of_elem(ours.int_elem), bits_of_elem(ours.float_elem));
}

static enum ravel_code build_loaded(struct ravel_context *c, struct loading *l) {
  struct arena *arena = &l->f->arena;
  const char *name = arena_copy(arena, l->name, strlen(l->name));
  const uint64_t failures = atomic_load(&c->heap.failures);
  const struct widths widths = c->options.machine.widths;
  const struct vcode_program *vcode =
      vcode_parse(arena, name, l->text, l->length, widths, c->diags);
  if (!vcode) return ravel_fail_work(c, RAVEL_SYNTAX, failures);
  l->program = ir_build(arena, vcode, widths, c->diags);
  return l->program ? RAVEL_OK : ravel_fail_work(c, RAVEL_TYPE, failures);
}

/* ---- types ---- */

static const char *entry_name(const struct loading *l) {
  return l->program->functions[l->program->entry].name->text;
}

static enum ravel_code fail_open(struct ravel_context *c, const struct loading *l,
                                 const struct items *items, bool taken, const char *reading) {
  const char *verb = taken ? "takes" : "leaves", *word = taken ? "takes" : "gives";
  if (!items->known) {
    return ravel_fail(c, RAVEL_TYPE, "it is not known what %s %s: pass the types as `%s`",
                      entry_name(l), verb, word);
  }
  const char *text = items_text(c->session->arena, items);
  if (!reading) {
    return ravel_fail(c, RAVEL_TYPE, "%s %s %.300s: no type has these columns", entry_name(l),
                      verb, text);
  }
  return ravel_fail(c, RAVEL_TYPE,
                    "%s %s %.300s: several types have these columns; pass one as `%s`, as "
                    "\"%.300s\"",
                    entry_name(l), verb, text, word, reading);
}

static bool agrees(const struct items *items, const struct column_kinds *columns) {
  static const uint8_t tags[] = {[COLUMN_INT] = IR_INT,
                                 [COLUMN_FLOAT] = IR_FLOAT,
                                 [COLUMN_BOOL] = IR_BOOL,
                                 [COLUMN_SEGDES] = IR_SEGDES};
  if (!items->known) return true;
  if (items->count != columns->list.count) return false;
  for (uint32_t i = 0; i < items->count; i++) {
    const uint8_t kind = items->kinds[i];
    if (kind != IR_ANY && kind != tags[columns->list.items[i]]) return false;
  }
  return true;
}

/* Returns the type with these columns: the text's, or the only one that the items leave. NULL
 * after ravel_fail. */
static struct type *type_of_items(struct ravel_context *c, const struct loading *l,
                                  const struct items *items, bool taken) {
  struct arena *arena = c->session->arena;
  const char *text = taken ? l->takes : l->gives;
  bool open = true;
  if (!text) {
    text = items->known ? types_of_items(arena, items, &open) : NULL;
    if (!text || open) {
      fail_open(c, l, items, taken, text);
      return NULL;
    }
  }
  struct type *type = ravel_type_read(c, text);
  if (!type) return NULL;
  struct column_kinds columns = {.arena = arena};
  value_columns(type, &columns);
  if (agrees(items, &columns)) return type;
  ravel_fail(c, RAVEL_TYPE, "%s %s %.300s, which are not the columns of %s", entry_name(l),
             taken ? "takes" : "leaves", items_text(arena, items), ravel_type_text(type));
  return NULL;
}

static bool is_blank_text(const char *text) {
  return text[strspn(text, " \t\r\n")] == '\0';
}

static enum ravel_code set_entry_types(struct ravel_context *c, const struct loading *l) {
  struct ravel_function *f = l->f;
  const struct items taken = entry_items(c->session->arena, l->program, true);
  const struct items left = entry_items(c->session->arena, l->program, false);
  const bool nothing = l->takes ? is_blank_text(l->takes) : taken.known && taken.count == 0;
  f->takes_text = "";
  if (nothing && taken.count > 0) {
    return ravel_fail(c, RAVEL_TYPE, "%s takes %.300s, not nothing", entry_name(l),
                      items_text(c->session->arena, &taken));
  }
  if (left.known && left.count == 0) {
    return ravel_fail(c, RAVEL_TYPE, "%s leaves nothing: it has no result", entry_name(l));
  }
  struct type *argument = nothing ? NULL : type_of_items(c, l, &taken, true);
  if (!nothing && !argument) return c->code;
  if (argument) ravel_function_takes_type(f, argument);
  f->gives = type_of_items(c, l, &left, false);
  return f->gives ? RAVEL_OK : c->code;
}

/* Sets the layouts that the types imply: of arguments for the optimiser, of results to be
 * checked. */
static void set_layouts(struct ravel_context *c, struct loading *l) {
  struct ravel_function *f = l->f;
  f->layout = ravel_type_layout(c, &f->arena, f->gives, NULL);
  if (f->take_count > 0) {
    l->program->entry_layout = ravel_type_layout(c, &f->arena, f->rest[0], NULL);
  }
}

static enum ravel_code load_program(struct ravel_context *c, void *data) {
  struct loading *l = data;
  enum ravel_code code = check_widths(c, l);
  if (code == RAVEL_OK) code = build_loaded(c, l);
  if (code == RAVEL_OK) code = set_entry_types(c, l);
  if (code != RAVEL_OK) return code;
  set_layouts(c, l);
  l->f->program = l->program;
  return ravel_function_prepare(c, l->f) ? RAVEL_OK : ravel_fail_machine(c);
}

static enum ravel_code load_in_form(struct ravel_context *c, void *data) {
  return ravel_in_form(c, load_program, data);
}

enum ravel_code ravel_program(struct ravel_context *c, const char *name, const char *text,
                              size_t length, const char *takes, const char *gives,
                              struct ravel_function **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!text || !out) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  struct loading l = {.name = name ? name : "<program>", .text = text};
  l.takes = takes;
  l.gives = gives;
  l.length = length ? length : strlen(text);
  if (l.length > RAVEL_MOST_TEXT) return ravel_fail(c, RAVEL_SYNTAX, "the text is too long");
  l.f = ravel_function_new(c);
  if (!l.f) return c->code;
  const double start = stop_clock();
  const enum ravel_code code = ravel_deep(c, load_in_form, &l);
  c->statistics.compile_seconds = stop_clock() - start;
  if (code == RAVEL_OK) {
    *out = l.f;
  } else {
    ravel_function_release(l.f);
  }
  return code;
}

/* ---- results ---- */

/* Whether each column is as long as the layout says. */
enum ravel_code ravel_check_results(struct ravel_context *c, const struct ravel_function *f,
                                    const struct cvl_value *results, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint64_t wanted = 1, found;
    const uint32_t within = f->layout[i];
    if (within != IR_ONE &&
        !machine_value_total(c->machine, &results[within], &wanted, c->diags)) {
      return ravel_fail_machine(c);
    }
    if (!machine_value_count(c->machine, &results[i], &found, c->diags)) {
      return ravel_fail_machine(c);
    }
    if (found == wanted) continue;
    return ravel_fail(
        c, RAVEL_RUNTIME,
        "item %llu of the result of %s has the length %llu, and %llu is that of a "
        "value of %s",
        (unsigned long long)i, f->program->file, (unsigned long long)found,
        (unsigned long long)wanted, ravel_type_text(f->gives));
  }
  return RAVEL_OK;
}
