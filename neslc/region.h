/* region.h - the memory of a session, by what it serves: a region for each form, for each
 * source and for the value of each variable; and what frees those that serve nothing any more.
 *
 * What the names of a session stand for, and all that these mention, is found by tracing: from
 * names to globals, from a global to the region of its definition or value, from a region to
 * the globals and regions that its trees and types mention. That is noted once, when a region
 * is complete. The others are looked for when there may be as much of them as of what is used,
 * or what has lost its name is large: that takes time in proportion to what was allocated. A
 * form that defined nothing, and the old value of a variable that got another of the same type,
 * are freed at once.
 *
 * A session for which session_collect_from_now was not called has everything in its arena.
 */
#ifndef RAVEL_NESLC_REGION_H
#define RAVEL_NESLC_REGION_H

#include "neslc/core.h"

struct session;

struct region {
  struct arena arena;
  struct region *before, *next;   /* of all regions of the session */
  struct source *source;          /* that it holds, or NULL */
  struct region *outer;           /* of the form around, which loads a file; or NULL */
  uint32_t held;                  /* by so many who work with it */
  bool kept;                      /* something may mention it: only tracing can tell */
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
/* Frees what nothing mentions, if it may be much. Between forms only. */
void session_collect(struct session *);
/* Frees what nothing mentions. */
void session_collect_now(struct session *);

/* ---- regions ---- */

/* A region that is held once, for about so many bytes. NULL without memory, or where the
 * session has none: then the session's arena is to be used. */
struct region *region_new(struct session *, size_t bytes);
enum { REGION_OF_FORM = 1024, REGION_OF_VALUE = 512 };
/* A region more, or less, to be held; NULL is ignored. One that is not held any more, and not
 * kept, is freed. */
void region_hold(struct region *);
void region_let_go(struct session *, struct region *);
/* Frees a region that nothing mentions. */
void region_free(struct session *, struct region *);
/* The region for a form, held: session->arena is in it until it ends. Forms may be nested. NULL
 * without memory, or without regions. */
struct region *session_begin_form(struct session *);
void session_end_form(struct session *, struct region *);
/* Makes a source one that places of programs are looked for in, as long as it is there. */
void session_add_source(struct session *, struct source *);

/* ---- what a region mentions ---- */

/* Notes everything that a definition mentions, or that an expression, or the type of a value
 * does. The region is complete and kept from now on. NULL is ignored. May end in
 * memory_failed. */
void region_note_global(struct region *, const struct global *);
void region_note_core(struct region *, const struct core *);
void region_note_type(struct region *, struct type *);
/* The global that it mentions is another from now on. */
void region_replace_global(struct region *, const struct global *from, struct global *to);

#endif
