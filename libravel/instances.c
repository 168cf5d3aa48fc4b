/* instances.c - which elements the failure of a call is about.
 *
 * Flattened code has no instances, so the reference interpreter executes the call once more.
 * Its failure has them, and they are remarked on if it is the failure that was reported. Calls
 * that take it too long or have too many elements, or may do something twice, are left alone:
 * the bounds are counts, so that a message does not depend on the machine's speed.
 */
#include "libravel/private.h"

#include "neslc/reference/direct.h"

#include <inttypes.h>
#include <string.h>

enum {
  MOST_STEPS = 3000000,    /* of the interpreter: about half a second */
  MOST_ELEMENTS = 1 << 20, /* of all arguments */
  MOST_NOTES = 8
};

static bool may_act(const struct ravel_context *c) {
  const struct permissions *p = &c->options.machine.permissions;
  return p->files || p->processes;
}

static bool are_few(struct ravel_context *c, const struct ravel_calling *call) {
  uint64_t all = 0, n;
  for (size_t i = 0; i < call->count; i++) {
    const struct ravel_value *v = call->arguments[i];
    for (uint32_t k = 0; k < v->count; k++) {
      if (!machine_value_count(c->machine, &v->columns[k], &n, c->diags)) return false;
      if (n > MOST_ELEMENTS - all) return false;
      all += n;
    }
  }
  return true;
}

/* Returns whether both begin with the same error: the first line of one as far as it goes. */
static bool begins_with_same_error(const struct diag_list *reported,
                                   const struct diag_list *again) {
  if (reported->list.count == 0 || again->list.count == 0) return false;
  const struct diag *a = &reported->list.items[0], *b = &again->list.items[0];
  return a->pos.line == b->pos.line && a->pos.column == b->pos.column && a->file && b->file &&
         strcmp(a->file, b->file) == 0 &&
         strncmp(a->message, b->message, strcspn(b->message, "\n")) == 0;
}

/* Returns whether an apply-to-each of the program is the outermost of this text. Recursive
 * calls may make many. */
static bool is_worth_a_note(const struct direct_instances *found, size_t i) {
  const struct core *each = found->list[i].each;
  if (!each->source || each->source->library) return false;
  for (size_t k = i + 1; k < found->count; k++) {
    if (found->list[k].each == each) return false;
  }
  return true;
}

/* Adds the notes, innermost first, as calls are; if there are too many, the outermost. */
static void note_instances(struct diag_list *reported, const struct direct_instances *found) {
  struct complaints complaints = {.diags = reported};
  size_t chosen[MOST_NOTES], count = 0;
  for (size_t i = found->count; i-- > 0 && count < MOST_NOTES;) {
    if (is_worth_a_note(found, i)) chosen[count++] = i;
  }
  while (count-- > 0) {
    const struct direct_instance *x = &found->list[chosen[count]];
    remark(&complaints, x->each->source, x->each->at,
           "the element of index %" PRIu64 " failed in this apply-to-each", x->index);
  }
}

/* Looks for the failure. Its own diagnostics, which nobody reads, go to c->diags. */
static void look_for_failure(struct ravel_context *c, struct ravel_calling *call,
                             struct diag_list *reported) {
  struct complaints complaints = {.diags = c->diags};
  struct direct_instances found = {NULL, 0};
  const struct direct_options options = {.most_steps = MOST_STEPS, .instances = &found};
  if (!are_few(c, call) || !ravel_fetch_arguments(c, call)) return;
  if (ravel_interpret(c, call, &options, &complaints, NULL)) return;
  if (begins_with_same_error(reported, c->diags)) note_instances(reported, &found);
}

void ravel_note_instances(struct ravel_context *c) {
  if (!c->calling || !c->calling->f->whole || may_act(c)) return;
  struct ravel_calling call = *c->calling;
  struct diag_list *const reported = c->diags;
  struct diag_list unread;
  diag_list_init(&unread, c->session->arena);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  c->diags = &unread;
  ravel_set_silent(c, true); /* it has printed already */
  if (setjmp(guard.jump) == 0) {
    look_for_failure(c, &call, reported);
    memory_guard_end(&guard);
  }
  ravel_set_silent(c, false);
  c->diags = reported;
}
