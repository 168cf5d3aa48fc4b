/* habits.h - what people write who know other languages: habits.def by what was read. All hints
 * are NULL if there is none.
 */
#ifndef RAVEL_NESLC_HABITS_H
#define RAVEL_NESLC_HABITS_H

#include "neslc/front/parse.h"
#include "neslc/types/types.h"

/* Return a hint for a word that is not defined, or for one that is read, at the beginning of a
 * form or within. */
const char *habit_of_name(const char *word);
const char *habit_of_word(const char *word, bool begins);
const char *habit_of_tokens(enum lexeme before, enum lexeme token);
/* Returns a hint for an operator whose operands are of this type. */
const char *habit_of_operator(const char *text, enum type_tag);
/* Return the text of NESL that a character looks like, and the name of a character that looks
 * like a space. */
const char *habit_lookalike(const char *character);
const char *habit_space(const char *character);

#endif
