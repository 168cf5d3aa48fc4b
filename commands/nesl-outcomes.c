/* nesl-outcomes.c - the outcome of each form in one line: printed for the corpus (--outcomes),
 * or compared with the comments of a file (test), whose properties are then tried.
 *
 *     name = VALUE : TYPE             a result or a definition
 *     out "TEXT" name = VALUE : TYPE  the form printed TEXT first (\n \" \\ escaped)
 *     ok                              a command
 *     error KIND                      rejected; the kinds of neslc/front/source.h
 *     error runtime: SENTENCE         stopped by a check
 *     error user: TEXT                stopped by error(TEXT)
 */
#include "base/number.h"
#include "commands/nesl-property.h"
#include "commands/process.h"

#include <string.h>

static void put_escaped_text(const char *text, size_t length, FILE *out) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') {
      fputs("\\n", out);
      continue;
    }
    if (text[i] == '"' || text[i] == '\\') fputc('\\', out);
    fputc(text[i], out);
  }
}

/* Escapes line breaks, so that a result stays one line. */
static void put_line(const char *text, size_t length, FILE *out) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') {
      fputs("\\n", out);
    } else {
      fputc(text[i], out);
    }
  }
}

/* ---- errors ---- */

static const char *first_complaint(const struct nesl *n) {
  for (size_t i = 0; i < n->diags.list.count; i++) {
    if (n->diags.list.items[i].severity == SEVERITY_ERROR) {
      return n->diags.list.items[i].message;
    }
  }
  return "";
}

/* The sentence that the language documents: the beginning of a message, to its first stop. */
static void put_sentence(const char *message, FILE *out) {
  size_t line = strcspn(message, "\n"), stop = strcspn(message, ".");
  put_line(message, stop < line ? stop + 1 : line, out);
}

/* The text given to error(): the last thing that was printed. */
static void put_user_text(const char *printed, size_t length, FILE *out) {
  static const char mark[] = "ERROR: ";
  const size_t mark_length = sizeof mark - 1;
  for (size_t at = length; at >= mark_length; at--) {
    if (memcmp(printed + at - mark_length, mark, mark_length) != 0) continue;
    if (length > at && printed[length - 1] == '\n') length--;
    put_line(printed + at, length - at, out);
    return;
  }
}

static void put_outcome(struct nesl *n, const struct nesl_done *it, FILE *out) {
  const bool complete = text_flush(&n->capture);
  const char *printed = n->capture.bytes;
  const size_t length = n->capture.length;
  const enum nesl_error error = it->outcome.error;
  if (!complete) {
    fprintf(out, "error %s", nesl_error_name(NESL_LIMIT)); /* it printed too much */
  } else if (error != NESL_OK) {
    fprintf(out, "error %s", nesl_error_name(error));
    if (error == NESL_RUNTIME || error == NESL_USER) fputs(": ", out);
    if (error == NESL_RUNTIME) put_sentence(first_complaint(n), out);
    if (error == NESL_USER) put_user_text(printed, length, out);
  } else if (!it->outcome.result) {
    fputs("ok", out);
  } else {
    if (length > 0) {
      fputs("out \"", out);
      put_escaped_text(printed, length, out);
      fputs("\" ", out);
    }
    put_line(it->outcome.result, it->outcome.text.length, out);
  }
  text_clear(&n->capture);
}

/* ---- --outcomes ---- */

static bool print_outcome(struct nesl *n, void *context, const struct nesl_done *it) {
  (void)context;
  put_outcome(n, it, stdout);
  fputc('\n', stdout);
  return process_reaches(stdout); /* the next form may crash */
}

int nesl_outcomes(struct nesl *n, const struct source *source) {
  n->silent = true;
  nesl_each_form(n, source, print_outcome, NULL, NULL);
  return STATUS_DONE;
}

/* ---- test ---- */

/* An expectation is a comment behind a form: %= OUTCOME %, where a result may be shortened to
 * "VALUE : TYPE", to "VALUE", or an error to its kind. Floats may have all their digits or 15.
 */
struct tests {
  const struct source *source;
  unsigned forms, expectations, failures;
  /* the memory of one comparison */
  struct arena scratch;
  struct text text;
};

/* The expectation behind a form, before the next one; false if there is none. */
static bool find_expectation(const struct source *source, struct span behind,
                             struct span *expected) {
  const char *text = source->text;
  uint32_t at = behind.start;
  for (;;) {
    while (at < behind.end && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))) at++;
    if (at >= behind.end || text[at] != '%') return false;
    const char *end = memchr(text + at + 1, '%', behind.end - at - 1);
    if (!end) return false;
    bool is_one = text[at + 1] == '=';
    *expected = (struct span){at + 2, (uint32_t)(end - text)};
    if (is_one) return true;
    at = (uint32_t)(end - text) + 1;
  }
}

/* Copies a text, with each run of white space outside of strings and characters as one space,
 * and none at the ends. The arena's. */
static char *squeeze(struct arena *arena, const char *text, size_t length) {
  char *squeezed = arena_alloc(arena, length + 1), *out = squeezed;
  bool in_string = false, space = false;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (!in_string && (c == ' ' || (c >= '\t' && c <= '\r'))) {
      space = out != squeezed;
      continue;
    }
    if (space) *out++ = ' ';
    space = false;
    *out++ = c;
    const bool quotes = in_string ? c == '\\' : c == '`'; /* the character behind it */
    if (quotes && i + 1 < length) *out++ = text[++i];
    if (c == '"') in_string = !in_string;
  }
  *out = '\0';
  return squeezed;
}

/* Whether an outcome is `wanted`, or `wanted` leaves out its name, its type or the details of
 * an error. */
static bool outcome_holds(const char *outcome, const char *wanted) {
  if (strcmp(outcome, wanted) == 0) return true;
  size_t n = strlen(wanted);
  if (strncmp(outcome, "error ", 6) == 0) {
    return strncmp(outcome, wanted, n) == 0 && outcome[n] == ':';
  }
  if (strncmp(outcome, "out ", 4) == 0) return false; /* output must not be left out */
  const char *value = strstr(outcome, " = ");
  if (!value) return false;
  value += 3;
  return strncmp(value, wanted, n) == 0 &&
         (value[n] == '\0' || strncmp(value + n, " : ", 3) == 0);
}

/* The length of the number that begins there, or 1; and whether it is a float of many digits.
 */
static size_t token_length(const char *text, bool *is_long) {
  const size_t whole = strspn(text, "0123456789");
  const bool is_float = whole > 0 && text[whole] == '.';
  const size_t mantissa = is_float ? whole + 1 + strspn(text + whole + 1, "0123456789") : whole;
  *is_long = is_float && mantissa > FLOAT_DIGITS + 1;
  if (whole == 0) return 1;
  if (!is_float || text[mantissa] != 'E') return mantissa;
  return mantissa + 1 + strspn(text + mantissa + 1, "-0123456789");
}

/* A copy whose floats have the 15 digits of the specification. The arena's. */
static char *rounded_numbers(struct arena *arena, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = arena_alloc(arena, size), *out = copy;
  bool in_string = false, is_long = false;
  while (*text) {
    size_t length = in_string ? 1 : token_length(text, &is_long);
    if (!in_string && is_long) {
      char number[NUMBER_TEXT_MAX];
      const struct float_layout layout = {FLOAT_DIGITS, false};
      const size_t n = nesl_format_float(number, parse_real(text, length), layout);
      memcpy(out, number, n); /* no longer than it was */
      out += n;
    } else {
      if ((in_string ? *text == '\\' : *text == '`') && text[1]) length = 2;
      in_string ^= *text == '"';
      memcpy(out, text, length);
      out += length;
    }
    text += length;
  }
  *out = '\0';
  return copy;
}

/* Compares the outcome of a form with the expectation; memory_failed without memory. */
static void compare_outcome(struct nesl *n, struct tests *tests, const struct nesl_done *it) {
  struct span at = {0, 0};
  struct text *text = &tests->text;
  struct arena *arena = &tests->scratch;
  if (!text_begin(text, &n->capture_heap)) memory_failed();
  put_outcome(n, it, text->stream);
  if (!text_end(text)) memory_failed();
  tests->forms++;
  bool expects = find_expectation(tests->source, it->behind, &at);
  const char *outcome = squeeze(arena, text->bytes, text->length);
  const char *wanted =
      expects ? squeeze(arena, tests->source->text + at.start, at.end - at.start) : NULL;
  bool fine = expects ? outcome_holds(outcome, wanted) ||
                            outcome_holds(rounded_numbers(arena, outcome), wanted)
                      : it->outcome.error == NESL_OK;
  tests->expectations += expects;
  if (fine) return;
  uint32_t start = expects ? at.start : it->form ? it->form->at.start : it->behind.start;
  struct source_pos pos = source_position(tests->source, start);
  tests->failures++;
  printf("%s:%u:%u: expected %s\n  but it is  %s\n", tests->source->name, pos.line, pos.column,
         wanted ? wanted : "no error", outcome);
  if (!process_reaches(stdout)) n->leave = true;
  if (it->outcome.error != NESL_OK) nesl_complain(n);
}

static void end_comparison(struct tests *tests) {
  text_free(&tests->text);
  arena_free(&tests->scratch);
}

/* If there is no memory for a comparison, the remaining forms are not tested. */
static bool compare_done(struct nesl *n, void *context, const struct nesl_done *it) {
  struct tests *tests = context;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    tests->failures++;
    nesl_forget(n);
    nesl_complain_of_memory(n);
    nesl_complain(n);
    end_comparison(tests);
    return false;
  }
  compare_outcome(n, tests, it);
  memory_guard_end(&guard);
  end_comparison(tests);
  return true;
}

int nesl_test(struct nesl *n, const struct source *source) {
  struct tests tests = {.source = source};
  arena_init(&tests.scratch, &n->capture_heap);
  n->silent = true;
  region_hold(source->region);
  nesl_each_form(n, source, compare_done, &tests, NULL);
  const struct properties tried = nesl_try_properties(n, source);
  printf("%s: %u forms, %u expectations, ", source->name, tests.forms, tests.expectations);
  if (tried.count > 0) {
    printf("%u properties in %llu cases, ", tried.count, (unsigned long long)tried.cases);
  }
  printf("%u failed\n", tests.failures + tried.failed + tried.broken);
  region_let_go(n->session, source->region);
  if (tests.failures + tried.failed > 0) return STATUS_FAILED;
  return tried.broken > 0 ? STATUS_USAGE : STATUS_DONE;
}
