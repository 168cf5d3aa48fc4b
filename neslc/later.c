/* later.c - see later.h. */
#include "neslc/later.h"

#include "neslc/front/parse.h"
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

/* ---- the definitions of a text ---- */

static void add_later(struct later_text *text, const struct name *name, uint32_t at) {
  struct later *later = arena_alloc(text->arena, sizeof *later);
  *later = (struct later){.name = name, .at = at};
  struct later *last = table_get(text->names, name);
  while (last && last->next) last = last->next;
  if (last) {
    last->next = later;
  } else {
    table_set(text->names, name, later);
  }
}

static bool begins_form(const struct reader *r) {
  const struct nesl_token *before = &r->before;
  return before->kind == TOKEN_END || before->lexeme == LEX_END ||
         before->lexeme == LEX_END_ALSO;
}

/* Reads the tokens up to the end of a form, or further. */
static void look_at_later_form(struct later_text *text, struct reader *r) {
  do {
    const uint32_t at = r->token.at.start;
    const bool function = r->token.lexeme == LEX_FUNCTION && begins_form(r);
    read_token(r);
    if (function && token_is_name(&r->token)) add_later(text, r->token.name, at);
  } while (r->token.lexeme != LEX_END && r->token.kind != TOKEN_END && !r->failed);
}

/* Tokens of a form are forgotten with it: a text may be long. */
static void look_through(struct later_text *text, struct heap *heap) {
  struct arena scratch;
  struct diag_list ignored;
  struct complaints complaints = {.diags = &ignored};
  struct reader r = text->reader;
  struct memory_guard guard;
  arena_init(&scratch, heap);
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&scratch);
    memory_failed();
  }
  r.complaints = &complaints;
  do {
    arena_free(&scratch);
    arena_init(&scratch, heap);
    diag_list_init(&ignored, &scratch);
    r.arena = &scratch;
    look_at_later_form(text, &r);
  } while (r.token.kind != TOKEN_END && !r.failed);
  memory_guard_end(&guard);
  arena_free(&scratch);
}

struct later_text *later_look(struct session *session, const struct reader *reader) {
  struct later_text *text = arena_alloc(reader->arena, sizeof *text);
  *text = (struct later_text){
      .arena = reader->arena, .reader = *reader, .names = table_new(reader->arena)};
  /* A text of data alone may be large. */
  if (strcasestr(reader->source->text, "function")) look_through(text, session->arena->heap);
  return text;
}

/* ---- names ---- */

static struct later *first_named(const struct session *session, const struct source *source,
                                 const struct name *name) {
  const struct later_text *text = session->later;
  return text && text->reader.source == source ? table_get(text->names, name) : NULL;
}

const struct later *later_named(const struct session *session, const struct source *source,
                                const struct name *name) {
  const struct later *later = first_named(session, source, name);
  while (later && later->at < session->later->at) later = later->next;
  return later;
}

void later_reach(struct session *session, const struct form *form) {
  struct later_text *text = session->later;
  if (text && text->reader.source == form->source) text->at = form->at.start;
}

struct later *later_of(const struct session *session, const struct form *form) {
  struct later *later = first_named(session, form->source, form->name);
  while (later && later->at != form->at.start) later = later->next;
  return later;
}

/* Whether a name means what this text defined already; of variables that is not known. */
static bool is_of_text(const struct checker *ck, const struct global *now) {
  if (!now || now->library) return false;
  return now->kind == GLOBAL_VARIABLE || (now->form && now->form->source == ck->source);
}

bool later_is_ahead(const struct session *session, const struct global *global) {
  const struct later_text *text = session->later;
  return text && global->form && global->form->source == text->reader.source &&
         global->form->at.start > text->at;
}

bool later_is_meant(struct checker *ck, const struct name *name, const struct global *now) {
  if (!ck->self || ck->session->in_library || is_of_text(ck, now)) return false;
  struct later *later = first_named(ck->session, ck->source, name);
  while (later && later->at < ck->session->later->at) later = later->next;
  if (!later) return false;
  for (size_t i = 0; i < ck->later.count; i++) {
    if (ck->later.items[i] == later) return true;
  }
  *array_push(ck->arena, &ck->later) = later;
  return true;
}

void later_remark(struct checker *ck) {
  const struct later_text *text = ck->session->later;
  if (!text || text->reader.source != ck->source || !ck->self) return;
  const struct form *form = ck->self->form;
  if (form->at.start <= text->at) return;
  remark(ck->complaints, ck->source, (struct span){text->at, text->at},
         "`%s` is checked here already, where it is called: what it uses stands before",
         form->name->text);
}

/* ---- the search ---- */

/* A function whose component is not known yet, or was not. */
struct node {
  struct later *later;
  const struct form *form;
  struct later **mentions; /* edges */
  size_t count, next;
  uint32_t index, low;
  bool open; /* on the stack */
};

struct search {
  struct checker *ck;
  struct later *root;
  struct checked *out;             /* of the root */
  bool fine;                       /* the root */
  struct table *nodes;             /* struct later -> struct node */
  ARRAY(struct node *) path, open; /* being visited; and those without a component */
};

/* Reads a definition. NULL if it cannot be read, which is reported when its turn comes. */
static const struct form *read_later(struct search *s, const struct later *later) {
  struct session *session = s->ck->session;
  struct diag_list ignored;
  struct complaints complaints = {.diags = &ignored};
  struct reader r = session->later->reader;
  struct form *form = arena_alloc(session->arena, sizeof *form);
  diag_list_init(&ignored, session->arena);
  r.arena = session->arena;
  r.at = later->at;
  return read_form(&r, &complaints, form) == READ_FORM ? form : NULL;
}

/* The functions that one mentions; its errors are reported when all is known. */
static void find_mentions(struct search *s, struct node *node) {
  struct diag_list ignored;
  struct complaints complaints = {.diags = &ignored};
  struct checker like = *s->ck;
  const bool warned = s->ck->session->warned_of_escapes;
  diag_list_init(&ignored, s->ck->arena);
  like.complaints = &complaints;
  check_mentions(&like, node->form, &node->mentions, &node->count);
  s->ck->session->warned_of_escapes = warned;
}

static void visit_later(struct search *s, struct later *later, const struct form *form) {
  struct node *node = arena_alloc(s->ck->arena, sizeof *node);
  const uint32_t index = (uint32_t)s->nodes->count;
  *node =
      (struct node){.later = later, .form = form, .index = index, .low = index, .open = true};
  table_set(s->nodes, later, node);
  *array_push(s->ck->arena, &s->path) = node;
  *array_push(s->ck->arena, &s->open) = node;
  find_mentions(s, node);
}

/* Follows an edge. */
static void follow_later(struct search *s, struct node *from, struct later *to) {
  const struct node *node = table_get(s->nodes, to);
  if (to->done) return;
  if (!node) {
    const struct form *form = read_later(s, to);
    if (form) {
      visit_later(s, to, form);
    } else {
      to->error = NESL_PARSE;
    }
  } else if (node->open && node->index < from->low) {
    from->low = node->index;
  }
}

/* ---- components ---- */

static void keep_outcome(struct search *s, struct later *later, const struct checked *out,
                         bool fine, enum nesl_error error) {
  struct arena *arena = s->ck->session->later->arena;
  later->done = true;
  later->error = fine ? NESL_OK : error;
  later->global = fine ? out->global : NULL;
  if (fine && out->notice) later->notice = arena_copy(arena, out->notice, strlen(out->notice));
  if (fine && out->note) later->note = arena_copy(arena, out->note, strlen(out->note));
}

/* Defines the functions of a component, `count` nodes that are closed now. */
static void define_component(struct search *s, struct node *const *nodes, size_t count) {
  struct arena *arena = s->ck->arena;
  struct complaints own = {.diags = s->ck->complaints->diags};
  struct checker like = *s->ck;
  const struct form **forms = arena_alloc(arena, count * sizeof(const struct form *));
  struct checked *checked = arena_alloc(arena, count * sizeof *checked);
  struct checked **out = arena_alloc(arena, count * sizeof(struct checked *));
  for (size_t i = 0; i < count; i++) {
    nodes[i]->open = false;
    forms[i] = nodes[i]->form;
    out[i] = nodes[i]->later == s->root ? s->out : &checked[i];
  }
  like.complaints = &own;
  const bool fine = check_functions(&like, forms, count, out);
  for (size_t i = 0; i < count; i++) {
    if (nodes[i]->later == s->root) {
      s->fine = fine;
    } else {
      keep_outcome(s, nodes[i]->later, out[i], fine, own.first);
    }
  }
  if (!s->ck->complaints->count) s->ck->complaints->first = own.first;
  s->ck->complaints->count += own.count;
  s->ck->complaints->warnings += own.warnings;
}

/* All edges of the last node of the path were followed. */
static void leave_component(struct search *s) {
  const struct node *node = s->path.items[--s->path.count];
  if (s->path.count > 0) {
    struct node *from = s->path.items[s->path.count - 1];
    if (node->low < from->low) from->low = node->low;
  }
  if (node->low != node->index) return;
  size_t first = s->open.count;
  while (s->open.items[--first] != node) continue;
  define_component(s, s->open.items + first, s->open.count - first);
  s->open.count = first;
}

bool later_define(struct checker *ck, struct later *later, const struct form *form,
                  struct checked *out) {
  struct search s = {.ck = ck, .root = later, .out = out, .nodes = table_new(ck->arena)};
  visit_later(&s, later, form);
  while (s.path.count > 0) {
    struct node *node = s.path.items[s.path.count - 1];
    if (node->next < node->count) {
      follow_later(&s, node, node->mentions[node->next++]);
    } else {
      leave_component(&s);
    }
  }
  return s.fine && !ck->complaints->count;
}

bool later_was_defined(struct checker *ck, const struct later *later, struct checked *out) {
  if (!later->done) return false;
  if (later->error != NESL_OK) {
    ck->complaints->first = later->error;
    ck->complaints->count++;
    return true;
  }
  const struct name *name = module_own(ck->session, later->name);
  if (table_get(ck->session->globals, name) != later->global) return false;
  out->global = later->global;
  out->notice = later->notice;
  out->note = later->note;
  return true;
}
