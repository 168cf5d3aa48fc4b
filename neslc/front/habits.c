/* habits.c - see habits.h. */
#include "neslc/front/habits.h"
#include "neslc/front/syntax.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

enum where { NAME, BEGINS, ANYWHERE };

static const struct word {
  const char *words;
  enum where where;
  const char *hint;
} words[] = {
#define WORDS(words, where, hint) {words, where, hint},
#include "neslc/front/habits.def"
};

static const struct word *habit_row(const char *word) {
  char padded[16];
  const int length = snprintf(padded, sizeof padded, " %s ", word);
  if (length >= (int)sizeof padded) return NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strstr(words[i].words, padded)) return &words[i];
  }
  return NULL;
}

const char *habit_of_name(const char *word) {
  const struct word *row = habit_row(word);
  return row ? row->hint : NULL;
}

const char *habit_of_word(const char *word, bool begins) {
  const struct word *row = habit_row(word);
  return row && (row->where == ANYWHERE || (begins && row->where == BEGINS)) ? row->hint : NULL;
}

/* ---- symbols ---- */

const char *habit_of_tokens(enum lexeme before, enum lexeme token) {
  static const struct {
    uint8_t before, token;
    const char *hint;
  } pairs[] = {
#define TOKENS(before, token, hint) {LEX_##before, LEX_##token, hint},
#include "neslc/front/habits.def"
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (pairs[i].before == before && pairs[i].token == token) return pairs[i].hint;
  }
  return NULL;
}

const char *habit_of_operator(const char *text, enum type_tag tag) {
  static const struct {
    const char *text;
    uint8_t tag;
    const char *hint;
  } operators[] = {
#define OPERATOR(text, type, hint) {text, TYPE_##type, hint},
#include "neslc/front/habits.def"
  };
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    if (operators[i].tag == tag && strcmp(operators[i].text, text) == 0)
      return operators[i].hint;
  }
  return NULL;
}

/* ---- characters ---- */

struct character {
  const char *bytes, *text;
};

static const char *character_text(const struct character *table, size_t count,
                                  const char *bytes) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(table[i].bytes, bytes) == 0) return table[i].text;
  }
  return NULL;
}

const char *habit_lookalike(const char *character) {
  static const struct character table[] = {
#define LOOKALIKE(bytes, own) {bytes, own},
#include "neslc/front/habits.def"
  };
  return character_text(table, sizeof table / sizeof *table, character);
}

const char *habit_space(const char *character) {
  static const struct character table[] = {
#define SPACE(bytes, name) {bytes, name},
#include "neslc/front/habits.def"
  };
  return character_text(table, sizeof table / sizeof *table, character);
}
