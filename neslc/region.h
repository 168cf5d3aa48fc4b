/* region.h - the memory of a session: a region for each form, for each source and for the value
 * of each variable; and the collection of unreachable regions.
 *
 * Reachable regions are found by tracing: from names to globals, from a global to the region of
 * its definition or value, from a region to the globals and regions that its trees and types
 * mention. Mentions are recorded once, when a region is complete. A collection runs when
 * garbage may be as large as the reachable data, or when unnamed definitions are large; its
 * time is proportional to what was allocated. A form that defined nothing, and the old value of
 * a variable that got another of the same type, are freed at once.
 *
 * A session for which session_collect_from_now was not called has everything in its arena.
 */
#ifndef RAVEL_NESLC_REGION_H
#define RAVEL_NESLC_REGION_H

#include "neslc/types/core.h"

struct session;

struct region {
  struct arena arena;
  struct region *before, *next;   /* of all regions of the session */
  struct source *source;          /* that it holds, or NULL */
  struct region *outer;           /* of the enclosing form, which loads a file; or NULL */
  uint32_t held;                  /* number of its current users */
  bool kept;                      /* something may mention it: only tracing decides */
  ARRAY(struct global *) globals; /* that it mentions ... */
  ARRAY(struct region *) regions; /* ... and lambdas and sources of these */
  /* While it is traced: */
  bool reached;
  struct region *waiting;
};

/* ---- the session ---- */

/* From now on forms, sources and values have regions of their own. */
void session_collect_from_now(struct session *);
/* Frees all regions. */
void session_free(struct session *);
/* Frees unreachable regions, if they may be large. Between forms only. */
void session_collect(struct session *);
/* Frees unreachable regions. */
void session_collect_now(struct session *);

/* ---- regions ---- */

/* A region that is held once, for about so many bytes. NULL without memory, or where the
 * session has none: then the session's arena is to be used. */
struct region *region_new(struct session *, size_t bytes);
enum { REGION_OF_FORM = 1024, REGION_OF_VALUE = 512 };
/* Adds or removes a user of a region; NULL is ignored. A region without users that is not kept
 * is freed. */
void region_hold(struct region *);
void region_let_go(struct session *, struct region *);
/* Everything that a region mentions or that may be reached from there now: `count` regions in
 * the arena, the first one included. memory_failed. */
struct region **region_reached(struct session *, struct region *, struct arena *,
                               size_t *count);
/* Frees a region that nothing mentions. */
void region_free(struct session *, struct region *);
/* Frees a region that nothing mentions, once nobody holds it. */
void region_drop(struct session *, struct region *);
/* The region for a form, held: session->arena is in it until it ends. Forms may be nested. NULL
 * without memory, or without regions. */
struct region *session_begin_form(struct session *);
void session_end_form(struct session *, struct region *);
/* Adds a source in which source locations of programs are looked up, as long as it lives. */
void session_add_source(struct session *, struct source *);

/* ---- what a region mentions ---- */

/* Records everything that a definition, an expression or the type of a value mentions. The
 * region is complete and kept from now on. NULL is ignored. May end in memory_failed. */
void region_note_global(struct region *, const struct global *);
void region_note_core(struct region *, const struct core *);
void region_note_type(struct region *, struct type *);
/* Replaces a global that it mentions. */
void region_replace_global(struct region *, const struct global *from, struct global *to);

#endif
