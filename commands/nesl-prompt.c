/* nesl-prompt.c - forms typed line by line: a form may span lines, a line may have several. */
#include "commands/nesl-lines.h"
#include "commands/nesl.h"
#include "commands/output.h"
#include "commands/process.h"
#include "neslc/front/parse.h"
#include "neslc/modules.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Text that was typed and not executed yet: the beginning of a form. */
struct pending {
  char *text;
  size_t length, capacity;
  uint32_t first_line; /* number of its first line in the session */
};

static bool add_line(struct pending *p, struct heap *heap, const char *line, size_t length) {
  if (p->capacity - p->length <= length) { /* there is a NUL behind it */
    size_t capacity = 2 * (p->length + length) + 1;
    char *text = heap_grow(heap, p->text, p->capacity, capacity);
    if (!text) return false;
    p->text = text;
    p->capacity = capacity;
  }
  memcpy(p->text + p->length, line, length);
  p->length += length;
  p->text[p->length] = '\0';
  return true;
}

/* Drops what has been executed. */
static void drop_pending(struct pending *p, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) p->first_line += p->text[i] == '\n';
  if (bytes < p->length) memmove(p->text, p->text + bytes, p->length - bytes);
  p->length -= bytes;
  if (p->capacity > 0) p->text[p->length] = '\0';
}

/* ---- completion ---- */

struct completion {
  struct session *session;
  const char *prefix;
  size_t length;
  void (*found)(void *, const char *);
  void *context;
};

static void offer(const struct completion *c, const char *name) {
  for (size_t i = 0; i < c->length; i++) {
    char typed = c->prefix[i];
    if (typed >= 'A' && typed <= 'Z') typed = (char)(typed - 'A' + 'a');
    if (typed != name[i]) return;
  }
  c->found(c->context, name);
}

static void offer_global(void *context, struct global *g) {
  const struct completion *c = context;
  if (g->name->text[0] != '_' && module_is_visible(c->session, g)) offer(c, g->name->text);
}

/* Offers none if memory runs out. */
static void offer_globals(struct session *session, struct completion *c) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return;
  session_each(session, offer_global, c);
  memory_guard_end(&guard);
}

static void complete_at_prompt(void *context, const char *prefix, size_t length,
                               void (*found)(void *, const char *), void *found_context) {
  static const char *const words[] = {
      "apropos", "datatype", "describe", "dump",       "else",         "exit",      "function",
      "help",    "if",       "import",   "in",         "let",          "load",      "set",
      "show",    "then",     "time",     "verbose",    "print_length", "arg_check", "quit",
      "cost",    "profile",  "trace",    "print_total"};
  struct nesl *n = context;
  struct completion c = {n->session, prefix, length, found, found_context};
  offer_globals(n->session, &c);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) offer(&c, words[i]);
}

/* Says why no more can be read; the number of complaints. */
static unsigned complain_of_input(int error) {
  char buffer[128];
  const char *why = error == ENOMEM   ? "out of memory: a form is too long; see --memory"
                    : error == EILSEQ ? "there is a byte 0: this is no text"
                                      : strerror_r(error, buffer, sizeof buffer);
  fprintf(stderr, "nesl: error: standard input: %s\n", why);
  return 1;
}

/* ---- words alone on a line ---- */

/* Whether the pending text is one word; copies it, in small letters. */
static bool is_one_word(const struct pending *p, char *word, size_t size) {
  size_t start = 0, end = p->length;
  while (start < end && isspace((unsigned char)p->text[start])) start++;
  while (end > start && isspace((unsigned char)p->text[end - 1])) end--;
  if (start == end || end - start >= size || !isalpha((unsigned char)p->text[start]))
    return false;
  for (size_t i = start; i < end; i++) {
    const unsigned char c = (unsigned char)p->text[i];
    if (!isalnum(c) && c != '_') return false;
    *word++ = (char)tolower(c);
  }
  *word = '\0';
  return true;
}

static bool is_among(const char *word, const char *const *words, size_t count) {
  size_t i = 0;
  while (i < count && strcmp(word, words[i]) != 0) i++;
  return i < count;
}

/* Whether a word that was typed alone is a whole form: exit, help, or a name, whose value is
 * printed or which is reported as not defined. It is none where more lines were pasted together
 * with it. */
static bool is_whole_word(const struct lines *lines, const char *word, bool ended) {
  static const char *const leaving[] = {"exit", "quit", "help"};
  static const char *const beginning[] = {"let", "if", "function", "datatype"};
  if (is_among(word, beginning, sizeof beginning / sizeof *beginning)) return false;
  if (!lines_interactive(lines)) {
    return strcmp(word, "exit") == 0 ||
           (ended && is_among(word, leaving, sizeof leaving / sizeof *leaving));
  }
  return is_among(word, leaving, sizeof leaving / sizeof *leaving) || !lines_waiting(lines);
}

/* Ends a word that stands alone by a `;`. False if there is no memory for it; the text is then
 * discarded. */
static bool end_word(struct nesl *n, struct pending *p, const struct lines *lines, bool ended,
                     unsigned *failed) {
  char word[64];
  if (!is_one_word(p, word, sizeof word) || !is_whole_word(lines, word, ended)) return true;
  const bool has_break = p->text[p->length - 1] == '\n';
  if (has_break) p->length--;
  if (add_line(p, &n->heap, ";\n", 2)) return true;
  *failed += complain_of_input(ENOMEM);
  drop_pending(p, p->length);
  return false;
}

/* ---- the loop ---- */

/* Executes the complete forms, and at the end of the input all forms. False if there is no
 * memory for the text, which is then discarded. */
static bool execute_forms(struct nesl *n, struct pending *p, struct lines *lines, bool ended,
                          unsigned *failed) {
  const struct source *source = nesl_source(n, "<prompt>", p->text, p->length, p->first_line);
  uint32_t more = source ? (uint32_t)source->length : 0;
  if (source) {
    nesl_each_form(n, source, nesl_print_done, failed, ended ? NULL : &more);
  } else {
    nesl_complain(n);
    ++*failed;
    more = (uint32_t)p->length;
  }
  lines_remember(lines, p->text, more);
  drop_pending(p, more);
  (void)process_forget_interrupt(); /* it was for these forms */
  return source != NULL;
}

/* Executes the pending text, which may be a word alone, also behind other forms. */
static bool execute_pending(struct nesl *n, struct pending *p, struct lines *lines, bool ended,
                            unsigned *failed) {
  if (!end_word(n, p, lines, ended, failed)) return false;
  if (!execute_forms(n, p, lines, ended, failed)) return false;
  const size_t remains = p->length;
  if (n->leave || !end_word(n, p, lines, ended, failed)) return n->leave;
  return p->length == remains || execute_forms(n, p, lines, ended, failed);
}

static struct lines *open_lines(struct nesl *n) {
  enum { PATH_BYTES = 4096 };
  static const char name[] = "/nesl-history";
  char path[PATH_BYTES];
  struct diag_list ignored; /* without a folder the history is lost with the session */
  diag_list_init(&ignored, &n->messages);
  bool kept = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
              output_cache_folder(path, sizeof path - sizeof name, &ignored);
  if (kept) memcpy(path + strlen(path), name, sizeof name);
  const struct permissions user = process_user();
  /* Ranks read no lines from a terminal: what is typed there is not complete before its end is
   * known, which depends on what else waits. */
  const bool plain = process_shares() != NULL;
  return lines_open(kept ? path : NULL, plain, &user, &n->heap, complete_at_prompt, n);
}

/* A result of lines_read: a line, or NULL for one of its reasons. */
struct line {
  const char *text;
  size_t length;
  int error;
  bool interrupted;
};

static struct line read_prompt_line(struct lines *lines, const char *prompt) {
  struct line l = {.length = 0};
  l.text = lines_read(lines, prompt, &l.length);
  l.error = errno;
  l.interrupted = process_forget_interrupt();
  return l;
}

/* Room for what rank 0 has read, on the others. */
static bool pending_has_room(struct nesl *n, struct pending *room, size_t length) {
  if (length <= room->capacity) return true;
  char *text = heap_grow(&n->heap, room->text, room->capacity, 2 * length);
  if (!text) return false;
  room->text = text;
  room->capacity = 2 * length;
  return true;
}

/* The line that rank 0 has read, on all ranks. One that has no memory for it ends, and so the
 * job. */
static struct line share_line(struct nesl *n, struct line l, struct pending *room) {
  struct {
    uint64_t is_line, length, interrupted;
    int64_t error;
  } read = {l.text != NULL, l.length, l.interrupted, l.error};
  char why[256];
  process_share *share = process_shares();
  if (!share(&read, sizeof read, why, sizeof why)) {
    fprintf(stderr, "nesl: error: standard input: %s\n", why);
    return (struct line){.error = EPIPE};
  }
  l = (struct line){.length = read.length,
                    .error = (int)read.error,
                    .interrupted = read.interrupted,
                    .text = l.text};
  if (!read.is_line) return l;
  if (process_follows()) {
    if (!pending_has_room(n, room, read.length)) return (struct line){.error = ENOMEM};
    l.text = room->text;
  }
  (void)share((char *)(uintptr_t)l.text, read.length, why, sizeof why);
  return l;
}

/* The prompt: behind a part of a form, with what has to close it. */
static void make_prompt(const struct pending *p, const struct lines *lines, char *prompt,
                        size_t size) {
  const struct source part = {.text = p->text, .length = p->length};
  const char *awaited = lines_interactive(lines) ? awaited_at_end(&part) : "";
  snprintf(prompt, size, "%s> ", p->length == 0 ? "<Nesl" : awaited);
}

static struct line next_line(struct nesl *n, struct lines *lines, const struct pending *pending,
                             struct pending *room) {
  char prompt[16];
  struct line l = {.length = 0};
  const bool shares = process_shares() != NULL;
  if (!shares || !process_follows()) {
    make_prompt(pending, lines, prompt, sizeof prompt);
    l = read_prompt_line(lines, prompt);
  }
  if (shares) l = share_line(n, l, room);
  return l;
}

int nesl_prompt(struct nesl *n) {
  struct lines *lines = open_lines(n);
  struct pending pending = {.first_line = 1}, room = {.length = 0};
  unsigned failed = 0;
  if (!lines) {
    fputs("nesl: error: out of memory\n", stderr);
    return STATUS_FAILED;
  }
  n->reading = (struct nesl_reading){.typed = lines_interactive(lines), .prompt = true};
  if (lines_interactive(lines)) {
    fputs("NESL of Ravel " RAVEL_VERSION ". `help` lists what there is, `exit` leaves.\n",
          n->out);
  }
  while (!n->leave) {
    const struct line line = next_line(n, lines, &pending, &room);
    if (line.interrupted) { /* back to an empty prompt */
      fputc('\n', n->out);
      lines_remember(lines, pending.text, pending.length);
      drop_pending(&pending, pending.length);
    } else if (stop_asks(n->stop) != STOP_NOT) { /* another signal */
      drop_pending(&pending, pending.length);
      break;
    } else if (!line.text && line.error == EINTR) {
      continue;
    } else if (!line.text) {
      if (line.error != 0 && line.error != EIO) failed += complain_of_input(line.error);
      break;
    } else if (!add_line(&pending, &n->heap, line.text, line.length)) {
      failed += complain_of_input(ENOMEM);
      drop_pending(&pending, pending.length);
      if (!lines_interactive(lines)) break; /* it may never end */
    } else if (!execute_pending(n, &pending, lines, false, &failed) &&
               !lines_interactive(lines)) {
      break;
    }
  }
  if (!n->leave && pending.length > 0) execute_pending(n, &pending, lines, true, &failed);
  bool interactive = lines_interactive(lines);
  if (interactive && !n->leave) fputc('\n', n->out);
  lines_close(lines);
  heap_free(&n->heap, pending.text, pending.capacity);
  heap_free(&n->heap, room.text, room.capacity);
  return interactive || failed == 0 ? STATUS_DONE : STATUS_FAILED;
}
