/* progress.c - the status line of long runs. Single calls of write print it, so it never mixes
 * with buffered text of streams. It is drawn only a few times a second.
 */
#include "vinterp/report/progress.h"
#include "base/number.h"
#include "base/stop.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double AGAIN_SECONDS = 0.2;
static const char ERASE_LINE[] = "\r\033[K";

/* If the line cannot be written, the display is switched off, and the run goes on. */
static void progress_put(struct progress *p, const char *bytes, size_t n) {
  if (write(p->fd, bytes, n) < 0) p->fd = -1;
}

void progress_begin(struct progress *p, int fd, double first) {
  *p = (struct progress){.fd = fd >= 0 && isatty(fd) ? fd : -1};
  if (p->fd < 0) return;
  p->start = stop_clock();
  p->next = p->start + first;
}

void progress_update(struct progress *p, const char *function, uint64_t live, uint64_t peak) {
  if (p->fd < 0) return;
  double time = stop_clock();
  if (time < p->next) return;
  p->next = time + AGAIN_SECONDS;
  char live_text[NUMBER_TEXT_MAX], peak_text[NUMBER_TEXT_MAX], line[160];
  format_bytes(live_text, live);
  format_bytes(peak_text, peak);
  int n = snprintf(line, sizeof line, "%s%.1f s  %.32s  live %s  peak %s", ERASE_LINE,
                   time - p->start, function, live_text, peak_text);
  progress_put(p, line, (size_t)n);
  p->shown = true;
}

void progress_erase(struct progress *p) {
  if (p->fd < 0 || !p->shown) return;
  p->shown = false;
  progress_put(p, ERASE_LINE, sizeof ERASE_LINE - 1);
}

void progress_end(struct progress *p) {
  progress_erase(p);
  p->fd = -1;
}
