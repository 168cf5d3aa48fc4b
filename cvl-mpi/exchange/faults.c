/* faults.c - faults of this rank, and the first fault of all ranks (README.md, Ranks agree). */
#include "cvl-mpi/exchange/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/values/memory.h"

/* Returns the order in which an operation checks: sizes, memory, elements, and at the end
 * duplicates. */
static int rank_of_kind(enum cvl_error_kind kind) {
  switch ((int)kind) {
  case CVL_E_SIZE: return 0;
  case CVL_E_MEMORY: return 1;
  case CVL_E_DUPLICATE: return 3;
  default: return 2;
  }
}

/* Returns whether fault a is the reason for fault b. A rank without memory sends zeros, which
 * may be faults where they arrive: in the same call, or in later calls of earlier sites, since
 * combinations are executed in rounds. Such faults do not count. */
static bool is_why(const struct fault *a, const struct fault *b) {
  return a->error.kind == CVL_E_MEMORY && a->call < b->call;
}

static bool faults_comes_before(const struct fault *f, const struct fault *g) {
  const struct cvl_error *a = &f->error, *b = &g->error;
  if (a->kind == CVL_E_NONE || b->kind == CVL_E_NONE) return b->kind == CVL_E_NONE;
  if (is_why(f, g) || is_why(g, f)) return is_why(f, g);
  if (a->site != b->site) return a->site < b->site;
  const int x = rank_of_kind(a->kind), y = rank_of_kind(b->kind);
  return x != y ? x < y : a->position < b->position;
}

void mpi_enter(struct cvl_context *c, const char *function, uint64_t site) {
  c->calls++;
  c->site = site;
  comm_at(c->comm, function, site);
}

/* Returns whether one rank alone may have such a fault in work that all ranks do alike. */
static bool is_of_one(enum cvl_error_kind kind) {
  return kind == CVL_E_MEMORY || kind == CVL_E_STOPPED || kind == CVL_E_DEVICE;
}

void fault_mine(struct cvl_context *c, struct cvl_error e) {
  const struct fault found = {e, c->calls};
  c->faults += e.kind != CVL_E_NONE;
  if (is_of_one(e.kind)) c->alone = e.kind;
  if (e.kind != CVL_E_NONE && faults_comes_before(&found, &c->mine)) c->mine = found;
}

void fault_memory(struct cvl_context *c, uint64_t site, uint64_t bytes) {
  fault_mine(c,
             (struct cvl_error){.kind = CVL_E_MEMORY, .site = site, .value = (int64_t)bytes});
}

/* ---- positions ---- */

void note_shift(struct cvl_context *c, struct shift s) {
  if (c->shift_count == c->shift_capacity) {
    const uint64_t capacity = 2 * c->shift_capacity + 16;
    struct shift *more = mpi_alloc(c, capacity * sizeof *more);
    if (c->shift_count) memcpy(more, c->shifts, c->shift_count * sizeof *more);
    free(c->shifts);
    c->shifts = more;
    c->shift_capacity = capacity;
  }
  c->shifts[c->shift_count++] = s;
}

/* Returns whether the position and the segment of such a fault are in the whole vector. */
static bool faults_has_position(enum cvl_error_kind kind) {
  return kind != CVL_E_SIZE && kind != CVL_E_MEMORY && kind != CVL_E_STOPPED &&
         kind != CVL_E_DEVICE;
}

static struct cvl_error shifted(const struct cvl_context *c, struct cvl_error e) {
  if (!faults_has_position(e.kind)) return e;
  for (uint64_t k = c->shift_count; k-- > 0;) {
    const struct shift *s = &c->shifts[k];
    if (e.site < s->site || e.site - s->site >= s->sites) continue;
    e.position += (int64_t)s->position;
    e.segment += (int64_t)s->segment;
    break;
  }
  return e;
}

enum { SHIFTS = 1 << 12 }; /* the most that are kept before the inner back end is waited for */

static void take_inner(struct cvl_context *c, bool wait) {
  struct cvl_error e;
  if (c->b->check(c->inner, wait, &e)) fault_mine(c, shifted(c, e));
  if (wait) c->shift_count = 0;
}

bool absorb(struct cvl_context *c, bool good, struct shift s) {
  /* A shift of 0 is noted, too, if an earlier one may have the same site, as steps of a
   * superoperator do. */
  if (s.position > 0 || s.segment > 0 || (s.sites > 0 && c->shift_count > 0)) note_shift(c, s);
  if (!good) take_inner(c, false);
  if (c->shift_count >= SHIFTS) take_inner(c, true);
  return good;
}

/* ---- agreement ---- */

enum { TEXT = 200 };

struct report {
  struct fault fault;
  char text[TEXT];
};

static struct report report_of(const struct cvl_context *c) {
  struct report r = {.fault = c->mine};
  if (c->mine.error.text) snprintf(r.text, sizeof r.text, "%s", c->mine.error.text);
  r.fault.error.text = NULL;
  return r;
}

/* Sets the slot to the fault of all ranks that comes first. */
static void find_first(struct cvl_context *c, struct report mine) {
  struct report *all = mpi_alloc(c, c->ranks * sizeof *all), *first = all;
  comm_gather(c->comm, &mine, sizeof mine, all);
  for (unsigned r = 1; r < c->ranks; r++) {
    if (faults_comes_before(&all[r].fault, &first->fault)) first = &all[r];
  }
  if (faults_comes_before(&first->fault, &c->slot)) {
    c->slot = first->fault;
    snprintf(c->text, sizeof c->text, "%s", first->text);
    if (c->slot.error.kind == CVL_E_DEVICE) c->slot.error.text = c->text;
  }
  mpi_free(c, all);
}

/* Returns whether a rank has a fault: the first word of its bytes says so. */
static bool any_says(const struct cvl_context *c, const struct round *round) {
  bool any = false;
  for (unsigned r = 0; r < c->ranks; r++) any = any || round->all[r * round->bytes];
  return any;
}

/* Ranks report their faults only if one has a fault. */
bool agree_with(struct cvl_context *c, bool heavy) {
  struct round round = round_begin(c, heavy, sizeof(uint64_t));
  take_inner(c, true);
  round.mine[0] = c->mine.error.kind != CVL_E_NONE;
  round_gather(c, &round);
  if (any_says(c, &round)) find_first(c, report_of(c));
  if (c->slot.error.kind == CVL_E_MEMORY) copies_drop(c);
  /* After a fault ranks may have computed different scalars on their own, so counters restart.
   */
  c->calls = c->slot.call = 0;
  c->mine.error.kind = CVL_E_NONE;
  c->alone = CVL_E_NONE;
  c->unsure = false;
  round_end(c, &round);
  return c->slot.error.kind == CVL_E_NONE;
}

bool agree(struct cvl_context *c) {
  return agree_with(c, false);
}

bool have_all(const struct cvl_context *c, bool mine) {
  if (mine || c->alone == CVL_E_NONE || c->armed) return mine;
  comm_meet(c->comm, c->calls,
            c->alone == CVL_E_MEMORY    ? "it has no memory left"
            : c->alone == CVL_E_STOPPED ? "it has been stopped"
                                        : "its device has failed");
  return false;
}

bool all_true(struct cvl_context *c, bool mine) {
  uint8_t *all = mpi_alloc(c, c->ranks);
  const uint8_t byte = mine;
  bool yes = true;
  comm_gather(c->comm, &byte, 1, all);
  for (unsigned r = 0; r < c->ranks; r++) yes = yes && all[r];
  mpi_free(c, all);
  return yes;
}
