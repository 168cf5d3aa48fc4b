/* tune-search.h - searches tuning values by time: coordinate by coordinate from the defaults,
 * each value doubled and halved as long as that gains; of a choice, each.
 *
 * The machine may be busy with other work, so a candidate and the best so far run in turns, and
 * the candidate replaces it only if its median is at least TUNE_GAIN less and it was the faster
 * one in three of four turns. In the end the best is compared with the defaults anew: of many
 * candidates one may have been lucky.
 */
#ifndef RAVEL_TUNE_SEARCH_H
#define RAVEL_TUNE_SEARCH_H

#include "cvl/tuning.h"

enum { TUNE_LEAST_RUNS = 5, TUNE_MOST_RUNS = 21 };
#define TUNE_GAIN 0.03

/* The times of one candidate. */
struct tune_times {
  double seconds[TUNE_MOST_RUNS], median,
      spread; /* half of the runs lie within, over the median */
  unsigned runs;
};

/* A candidate that was compared. */
struct tune_trial {
  enum { TRIED_DEFAULTS, TRIED_VALUE, TRIED_BEST } what;
  enum tuning_id id; /* of a VALUE: what differs from the best so far */
  uint64_t value;
  struct tune_times times;
  double ratio; /* of its time to that of the defaults: turns compare it with the best so far,
                   whose ratio is known */
  bool kept;
};

struct tune_search {
  const char *backend;
  double seconds; /* for the candidates, beside the defaults and the final comparison */
  /* Runs once and gives the seconds; negative: the search is to end, nothing is known. */
  double (*run)(void *with, const struct tuning *);
  double (*clock)(void *with);
  void (*tried)(void *with, const struct tune_trial *);
  void *with;
  /* the outcome */
  struct tuning best;
  double ratio; /* of the final comparison; 1 if the defaults stay */
  unsigned trials;
  bool complete; /* there was time for all */
};

/* False if a run asked for an end. `best` has only what differs from the defaults. */
bool tune_search(struct tune_search *);

#endif
