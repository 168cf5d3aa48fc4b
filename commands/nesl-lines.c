/* nesl-lines.c - see nesl-lines.h. */
#include "commands/nesl-lines.h"
#include "base/replace.h"
#include "base/sanitizers.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#ifdef RAVEL_HAS_LIBEDIT
#include <histedit.h>
#endif

struct lines {
  bool interactive;
  lines_complete *complete;
  void *context;
  const char *prompt;
  sigset_t unblocked; /* signals blocked outside of lines_read */
  struct heap *heap;
  char *line; /* plain */
  size_t capacity;
#ifdef RAVEL_HAS_LIBEDIT
  EditLine *editor;
  History *history;
  char *history_file;
  struct permissions user;
#endif
};

/* Waits for input. -1 with EINTR if SIGINT comes, or came since it was blocked. The signal is
 * blocked everywhere else: one that came between the test of its flag and the read would be
 * noticed only with the next line. */
static int await_input(const sigset_t *unblocked) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return ppoll(&input, 1, NULL, unblocked);
}

static void block_interrupts(sigset_t *before) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupts, before);
}

static bool grow_line(struct lines *l) {
  enum { FIRST = 4096 };
  const size_t wanted = l->capacity ? 2 * l->capacity : FIRST;
  char *line = heap_grow(l->heap, l->line, l->capacity, wanted);
  if (!line) return false;
  l->line = line;
  l->capacity = wanted;
  return true;
}

/* As getline, within the heap's limit; NULL as lines_read says. */
static const char *get_line(struct lines *l, size_t *length) {
  int c = 0;
  *length = 0;
  errno = 0;
  while (c != '\n' && (c = getc_unlocked(stdin)) != EOF) {
    if (*length == l->capacity && !grow_line(l)) errno = ENOMEM;
    if (c == '\0') errno = EILSEQ;
    if (errno) return NULL;
    l->line[(*length)++] = (char)c;
  }
  if (c != EOF || *length > 0) return l->line;
  if (errno == EINTR) clearerr(stdin);
  return NULL;
}

static const char *read_plain_line(struct lines *l, const char *prompt, size_t *length) {
  if (l->interactive) {
    fputs(prompt, stdout);
    fflush(stdout);
    if (await_input(&l->unblocked) < 0) return NULL;
  }
  return get_line(l, length);
}

#ifdef RAVEL_HAS_LIBEDIT

enum { HISTORY_LINES = 1000 };

#ifdef RAVEL_ASAN
/* libedit copies the names of added functions (EL_ADDFN) and never frees them. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:wcsdup\n";
}
#endif

/* ---- completion ---- */

/* The names that fit what stands before the cursor. */
struct candidates {
  size_t typed; /* bytes of them that are there already */
  unsigned count;
  char common[128]; /* what all have in common */
  FILE *list;       /* gets them one after the other; NULL: only count */
  unsigned column;
};

static void add_candidate(void *context, const char *name) {
  enum { WIDTH = 78, CELL = 20 };
  struct candidates *c = context;
  if (c->count++ == 0) {
    snprintf(c->common, sizeof c->common, "%s", name);
  } else {
    size_t n = 0;
    while (c->common[n] && c->common[n] == name[n]) n++;
    c->common[n] = '\0';
  }
  if (!c->list) return;
  c->column += fprintf(c->list, "%-*s ", CELL - 1, name) > 0 ? CELL : 0;
  if (c->column + CELL > WIDTH) {
    fputc('\n', c->list);
    c->column = 0;
  }
}

/* Returns whether a character may be in a name, which may be one of a module: m.x. */
static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '.';
}

/* The first character of the string that the cursor is in; NULL if it is in none. */
static const char *string_before(const char *line, const char *cursor) {
  const char *start = NULL;
  for (const char *p = line; p < cursor; p++) {
    if (*p == '"') {
      start = start ? NULL : p + 1;
    } else if (start ? *p == '\\' : *p == '`') {
      p++; /* the character that follows means itself */
    }
  }
  return start;
}

/* Calls `found` for each file whose path begins with these bytes, with its name; names of
 * folders have a `/` at the end. */
static void complete_file(void *context, const char *path, size_t length,
                          void (*found)(void *, const char *), void *found_context) {
  (void)context;
  char folder[PATH_MAX], name[PATH_MAX];
  const char *slash = memrchr(path, '/', length);
  const size_t before = slash ? (size_t)(slash - path) + 1 : 0, typed = length - before;
  struct dirent **entries;
  if (length >= sizeof folder) return;
  snprintf(folder, sizeof folder, "%.*s", (int)before, path);
  const int count = scandir(before ? folder : ".", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *entry = entries[i]->d_name;
    const bool fits = strncmp(entry, path + before, typed) == 0 && (typed > 0 || *entry != '.');
    const bool is_folder = entries[i]->d_type == DT_DIR;
    if (fits && strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0) {
      snprintf(name, sizeof name, "%s%s", entry, is_folder ? "/" : "");
      found(found_context, name);
    }
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

/* Completes what stands between `start` and the cursor; the candidates have `typed` bytes of
 * it. */
static unsigned char insert_completion(EditLine *editor, const char *start, size_t typed,
                                       lines_complete *candidates, void *context) {
  const size_t length = (size_t)(el_line(editor)->cursor - start);
  struct candidates c = {.typed = typed};
  candidates(context, start, length, add_candidate, &c);
  if (c.count == 0) return CC_ERROR;
  if (strlen(c.common) > c.typed) {
    return el_insertstr(editor, c.common + c.typed) == 0 ? CC_REFRESH : CC_ERROR;
  }
  if (c.count == 1) return CC_NORM;
  struct candidates shown = {.typed = c.typed, .list = stdout};
  fputc('\n', stdout);
  candidates(context, start, length, add_candidate, &shown);
  if (shown.column > 0) fputc('\n', stdout);
  return CC_REDISPLAY;
}

/* Names of files within strings, else those of the session. */
static unsigned char complete_name(EditLine *editor, int key) {
  (void)key;
  struct lines *l = NULL;
  el_get(editor, EL_CLIENTDATA, &l);
  const LineInfo *info = el_line(editor);
  const char *start = string_before(info->buffer, info->cursor);
  if (start) {
    const char *slash = memrchr(start, '/', (size_t)(info->cursor - start));
    const char *name = slash ? slash + 1 : start;
    return insert_completion(editor, start, (size_t)(info->cursor - name), complete_file, NULL);
  }
  for (start = info->cursor; start > info->buffer && in_name(start[-1]);) start--;
  if (start == info->cursor || !l) return CC_ERROR;
  return insert_completion(editor, start, (size_t)(info->cursor - start), l->complete,
                           l->context);
}

/* ---- editing ---- */

static char *prompt_of(EditLine *editor) {
  struct lines *l = NULL;
  static char none[] = "";
  el_get(editor, EL_CLIENTDATA, &l);
  return l ? (char *)(uintptr_t)l->prompt : none;
}

/* One character of the terminal: 1, 0 at its end, -1 when interrupted. */
static int read_editor_character(EditLine *editor, wchar_t *c) {
  struct lines *l = NULL;
  el_get(editor, EL_CLIENTDATA, &l);
  mbstate_t state = {0};
  for (;;) {
    char byte;
    if (await_input(&l->unblocked) < 0) return -1;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n <= 0) return (int)n;
    const size_t used = mbrtowc(c, &byte, 1, &state);
    if (used == (size_t)-1) {
      *c = (unsigned char)byte; /* no character of this locale */
      return 1;
    }
    if (used != (size_t)-2) return 1; /* else there is more of it to come */
  }
}

/* Characters are those of the user's locale, or of UTF-8 if that has ASCII only: terminals have
 * more. */
static void choose_characters(void) {
  setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
}

static void open_editor(struct lines *l, const char *file) {
  HistEvent event;
  choose_characters();
  l->editor = el_init("nesl", stdin, stdout, stderr);
  l->history = history_init();
  if (!l->editor || !l->history) return;
  el_set(l->editor, EL_CLIENTDATA, l);
  el_set(l->editor, EL_GETCFN, read_editor_character);
  el_set(l->editor, EL_PROMPT, prompt_of);
  el_set(l->editor, EL_EDITOR, "emacs");
  el_set(l->editor, EL_HIST, history, l->history);
  el_set(l->editor, EL_ADDFN, "complete-name", "Completes a name", complete_name);
  el_set(l->editor, EL_BIND, "^I", "complete-name", NULL);
  el_set(l->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
  el_source(l->editor, NULL);
  history(l->history, &event, H_SETSIZE, HISTORY_LINES);
  history(l->history, &event, H_SETUNIQUE, 1);
  l->history_file = file ? strdup(file) : NULL;
  if (l->history_file) history(l->history, &event, H_LOAD, l->history_file);
}

/* libedit needs a stream with a descriptor, whose permissions it restricts to the user. */
static bool put_history(struct lines *l, int fd) {
  HistEvent event;
  const int copy = dup(fd);
  FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
  if (!out) {
    if (copy >= 0) close(copy);
    return false;
  }
  const bool put = history(l->history, &event, H_SAVE_FP, out) >= 0;
  return (fclose(out) == 0) & put;
}

/* Failures are ignored: the history is not essential. */
static void save_history(struct lines *l) {
  struct replacement file;
  struct file_problem ignored;
  if (!replacement_begin(&file, &l->user, l->history_file, &ignored)) return;
  if (put_history(l, file.fd)) {
    (void)replacement_end(&file, &ignored);
  } else {
    replacement_abandon(&file);
  }
}

static void close_editor(struct lines *l) {
  if (l->history && l->history_file) save_history(l);
  if (l->editor) el_end(l->editor);
  if (l->history) history_end(l->history);
  free(l->history_file);
}

static const char *read_edited(struct lines *l, const char *prompt, size_t *length) {
  int count = 0;
  l->prompt = prompt;
  errno = 0;
  const char *line = el_gets(l->editor, &count);
  if (!line || count <= 0) return NULL;
  *length = (size_t)count;
  return line;
}

/* Without what stands around it; libedit ends entries with a line break. */
static void enter_history(struct lines *l, const char *text, size_t length) {
  while (length > 0 && strchr(" \t\n", *text)) text++, length--;
  while (length > 0 && strchr(" \t\n", text[length - 1])) length--;
  char *entry = length > 0 ? malloc(length + 2) : NULL; /* without memory it is not kept */
  if (!entry) return;
  memcpy(entry, text, length);
  memcpy(entry + length, "\n", 2);
  HistEvent event;
  history(l->history, &event, H_ENTER, entry);
  free(entry);
}

#endif

struct lines *lines_open(const char *file, bool plain, const struct permissions *user,
                         struct heap *heap, lines_complete *complete, void *context) {
  struct lines *l = heap_alloc(heap, sizeof *l);
  if (!l) return NULL;
  *l = (struct lines){.heap = heap};
  l->interactive = !plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  l->complete = complete;
  l->context = context;
#ifdef RAVEL_HAS_LIBEDIT
  l->user = *user;
  if (l->interactive) open_editor(l, file);
#else
  (void)file;
  (void)user;
#endif
  return l;
}

void lines_close(struct lines *l) {
  if (!l) return;
#ifdef RAVEL_HAS_LIBEDIT
  close_editor(l);
#endif
  heap_free(l->heap, l->line, l->capacity);
  heap_free(l->heap, l, sizeof *l);
}

bool lines_interactive(const struct lines *l) {
  return l->interactive;
}

bool lines_waiting(const struct lines *l) {
  (void)l;
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, 0) > 0;
}

void lines_remember(struct lines *l, const char *text, size_t length) {
#ifdef RAVEL_HAS_LIBEDIT
  if (l->editor && l->history) enter_history(l, text, length);
#else
  (void)l;
  (void)text;
  (void)length;
#endif
}

static const char *read_some(struct lines *l, const char *prompt, size_t *length) {
#ifdef RAVEL_HAS_LIBEDIT
  if (l->editor && l->history) return read_edited(l, prompt, length);
#endif
  return read_plain_line(l, prompt, length);
}

const char *lines_read(struct lines *l, const char *prompt, size_t *length) {
  block_interrupts(&l->unblocked);
  const char *line = read_some(l, prompt, length);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &l->unblocked, NULL);
  errno = error;
  return line;
}
