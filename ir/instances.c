/* instances.c - see instances.h.
 *
 * The effects are found for all functions at once: the effects of a callee are added to its
 * callers, until nothing changes. */
#include "ir/instances.h"
#include "ir/kinds.h"
#include "ir/walk.h"

enum instances_effect {
  DRAWS = 1,    /* a RAND */
  MAY_DRAW = 2, /* a RAND that is reached through an arm of an IF */
  OUTSIDE = 4,  /* input, output, SRAND */
  TIMES = 8,    /* a timer */
  EXITS = 16,   /* EXIT: the program ends */
  UNTYPED = 32  /* stack code, about which nothing is known */
};

bool instances_any(const struct ir_program *program) {
  for (uint32_t i = 0; i < program->function_count; i++) {
    if (program->functions[i].instances) return true;
  }
  return false;
}

/* ---- effects ---- */

/* A call: its caller, and the next call of the same callee. */
struct site {
  uint32_t caller, next;
  bool in_arm;
};

struct search {
  struct arena *arena;
  const struct ir_program *program;
  uint8_t *effects;
  ARRAY(struct site) sites;
  uint32_t *calls_of; /* per callee: one more than the number of its latest site, 0: none */
  ARRAY(uint32_t) changed; /* functions whose callers are to be looked at */
};

static uint8_t binding_instance_effects(const struct ir_binding *x, bool in_arm) {
  switch (opcode_effect(x->op)) {
  case OPCODE_DRAWS:
    if (x->op != OPC_RAND) return OUTSIDE;
    return (uint8_t)(in_arm ? DRAWS | MAY_DRAW : DRAWS);
  case OPCODE_OUTSIDE: return OUTSIDE;
  case OPCODE_TIMES: return TIMES;
  case OPCODE_STOPS:
  case OPCODE_PURE:
  case OPCODE_LOADED: break;
  }
  return 0;
}

static void add_site(struct search *s, uint32_t callee, uint32_t caller, bool in_arm) {
  *array_push(s->arena, &s->sites) = (struct site){caller, s->calls_of[callee], in_arm};
  s->calls_of[callee] = (uint32_t)s->sites.count;
}

/* Finds the effects of a function without those of its calls, which are noted. */
static void add_body_effects(struct search *s, uint32_t f, const struct ir_block *body) {
  for (struct ir_walk w = ir_walk(s->arena, body); ir_next_uses(&w);) {
    const bool in_arm = w.block != body;
    if (!w.x && w.block->end == IR_EXIT) s->effects[f] |= EXITS;
    if (w.x && w.x->form == IR_OP) s->effects[f] |= binding_instance_effects(w.x, in_arm);
    if (w.x && w.x->form == IR_CALL) add_site(s, w.x->as.callee, f, in_arm);
  }
}

static void add_function_effects(struct search *s, uint32_t f) {
  const struct ir_function *function = &s->program->functions[f];
  if (!function->typed) {
    s->effects[f] = UNTYPED;
  } else {
    add_body_effects(s, f, function->body);
  }
  if (s->effects[f] != 0) *array_push(s->arena, &s->changed) = f;
}

/* Returns the effects that a call adds to its caller. */
static uint8_t added(uint8_t callee, bool in_arm) {
  return (uint8_t)(in_arm && callee & DRAWS ? callee | MAY_DRAW : callee);
}

static void spread_to_callers(struct search *s) {
  while (s->changed.count > 0) {
    const uint32_t callee = s->changed.items[--s->changed.count];
    for (uint32_t at = s->calls_of[callee]; at != 0; at = s->sites.items[at - 1].next) {
      const struct site *site = &s->sites.items[at - 1];
      const uint8_t before = s->effects[site->caller];
      s->effects[site->caller] |= added(s->effects[callee], site->in_arm);
      if (s->effects[site->caller] != before) *array_push(s->arena, &s->changed) = site->caller;
    }
  }
}

uint8_t *instances_effects(struct arena *arena, const struct ir_program *program) {
  const uint32_t n = program->function_count;
  struct search s = {.arena = arena,
                     .program = program,
                     .effects = arena_alloc(arena, n),
                     .calls_of = arena_alloc(arena, n * sizeof *s.calls_of)};
  for (uint32_t f = 0; f < n; f++) add_function_effects(&s, f);
  spread_to_callers(&s);
  return s.effects;
}

static const char *effects_fault(uint8_t effects) {
  if (effects & OUTSIDE) return "has input, output or SRAND, or calls what has";
  if (effects & TIMES) return "has a timer, or calls what has";
  if (effects & EXITS) return "has an EXIT, or calls what has";
  if (effects & UNTYPED) return "calls a function without let-form";
  if (effects & MAY_DRAW)
    return "reaches a RAND through an arm of an IF: how many are executed may depend on the "
           "instances";
  return NULL;
}

/* ---- kinds and sizes ---- */

static bool is_base_kind(const struct ir_kind *kind) {
  return (int)kind->tag < (int)BASE_KINDS;
}

static const char *signature_fault(const struct ir_function *f) {
  if (!f->returns) return "never returns";
  if (f->param_count == 0 || f->vars[f->params[0]]->tag != IR_SEGDES)
    return "does not take a SEGDES, the descriptor of the instances, as parameter 0";
  return NULL;
}

static const char *kinds_fault(struct arena *arena, const struct ir_function *f) {
  for (uint32_t i = 0; i < f->param_count; i++) {
    const struct ir_kind *kind = f->vars[f->params[i]];
    if (!is_base_kind(kind))
      return arena_printf(arena, "takes %s as parameter %u, not INT, FLOAT, BOOL or SEGDES",
                          ir_tag_text(kind->tag), i);
  }
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (!is_base_kind(f->result_kinds[i]))
      return arena_printf(arena, "has %s as result %u, not INT, FLOAT, BOOL or SEGDES",
                          ir_tag_text(f->result_kinds[i]->tag), i);
  }
  return NULL;
}

/* The parameters, or the results. */
struct items {
  const char *what;
  uint32_t count;
  const uint32_t *sizes;
  const struct ir_kind **kinds;
};

static const char *size_fault(struct arena *arena, const struct items *l, uint32_t i) {
  uint32_t steps = 0;
  for (uint32_t size = l->sizes[i]; size != IR_EACH; size = l->sizes[size]) {
    if (size == IR_SHARED)
      return arena_printf(arena, "has a %s, %u, that belongs to segments of one that is shared",
                          l->what, i);
    if (size >= l->count)
      return arena_printf(arena, "has no %s %u, whose segments %s %u belongs to", l->what, size,
                          l->what, i);
    if (l->kinds[size]->tag != IR_SEGDES)
      return arena_printf(arena, "has a %s, %u, that belongs to segments of %s %u, which is %s",
                          l->what, i, l->what, size, ir_tag_text(l->kinds[size]->tag));
    if (++steps > l->count)
      return arena_printf(arena, "has a %s, %u, that belongs to its own segments", l->what, i);
  }
  return NULL;
}

static const char *sizes_fault(struct arena *arena, const struct ir_function *f,
                               const struct ir_instances *mark) {
  const struct ir_kind **kinds = arena_alloc(arena, f->param_count * sizeof *kinds);
  for (uint32_t i = 0; i < f->param_count; i++) kinds[i] = f->vars[f->params[i]];
  const struct items params = {"parameter", f->param_count, mark->params, kinds};
  const struct items results = {"result", f->result_count, mark->results, f->result_kinds};
  const char *fault = NULL;
  if (mark->params[0] != IR_SHARED)
    return "does not have the descriptor of the instances, parameter 0, as shared";
  for (uint32_t i = 1; i < params.count && !fault; i++) {
    if (mark->params[i] != IR_SHARED) fault = size_fault(arena, &params, i);
  }
  for (uint32_t i = 0; i < results.count && !fault; i++) {
    if (mark->results[i] == IR_SHARED)
      return arena_printf(arena, "has a result, %u, that is shared by all instances", i);
    fault = size_fault(arena, &results, i);
  }
  return fault;
}

/* ---- answers ---- */

const char *instances_fault(struct arena *arena, const struct ir_program *program, uint32_t f,
                            const struct ir_instances *mark, const uint8_t *effects) {
  const struct ir_function *function = &program->functions[f];
  const char *fault = signature_fault(function);
  if (!fault) fault = kinds_fault(arena, function);
  if (!fault) fault = effects_fault(effects[f]);
  return fault ? fault : sizes_fault(arena, function, mark);
}

/* ---- procedures ---- */

static const char *procedure_form_fault(const struct ir_function *p, uint8_t effects) {
  if (!p->typed) return "which has no let-form";
  if (!p->returns) return "which never returns";
  if (p->instances) return "which is lifted";
  if (p->rounds) return "which is of a loop for many instances";
  return effects ? "which has an effect, or calls what has" : NULL;
}

/* Returns the fault of a procedure that takes or leaves other items than the lifted function.
 */
static const char *procedure_items_fault(const struct ir_function *f,
                                         const struct ir_function *p) {
  if (p->param_count + 1 != f->param_count) return "which takes another number of items";
  if (p->result_count != f->result_count) return "which leaves another number of items";
  for (uint32_t i = 0; i < p->param_count; i++) {
    if (!ir_kind_same(p->vars[p->params[i]], f->vars[f->params[i + 1]]))
      return "which takes items of other kinds";
  }
  for (uint32_t i = 0; i < p->result_count; i++) {
    if (!ir_kind_same(p->result_kinds[i], f->result_kinds[i]))
      return "which leaves items of other kinds";
  }
  return NULL;
}

const char *procedure_fault(struct arena *arena, const struct ir_program *program, uint32_t f,
                            const uint8_t *effects) {
  const struct ir_function *function = &program->functions[f];
  const uint32_t index = ir_procedure(function);
  if (index == IR_NO_PROCEDURE) return NULL;
  if (index >= program->function_count) return "has a procedure that is no function";
  const struct ir_function *p = &program->functions[index];
  const char *fault = procedure_form_fault(p, effects[index]);
  if (!fault) fault = procedure_items_fault(function, p);
  return fault ? arena_printf(arena, "has the procedure %s, %s", p->name->text, fault) : NULL;
}
