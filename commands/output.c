/* output.c - see output.h. */
#include "commands/output.h"
#include "base/cache.h"
#include "commands/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool output_complain(struct diag_list *diags, const char *file, int error) {
  char buffer[128];
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s",
           strerror_r(error ? error : EIO, buffer, sizeof buffer));
  return false;
}

static bool complain_of(struct diag_list *diags, const char *file,
                        const struct file_problem *problem) {
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s", problem->text);
  return false;
}

/* Uses the stream stdout itself, so that output stays in order and errors are found once. */
static ssize_t write_standard(void *cookie, const char *bytes, size_t length) {
  const struct output_file *o = cookie;
  if (stop_asks(o->stop) == STOP_NOT) return (ssize_t)fwrite(bytes, 1, length, stdout);
  errno = ECANCELED;
  return 0;
}

bool output_begin_as(struct output_file *o, const struct permissions *permissions,
                     const char *file, struct diag_list *diags) {
  struct file_problem problem;
  /* Standard output of those that follow goes nowhere. */
  o->standard = strcmp(file, "-") == 0 || process_follows();
  if (o->standard) {
    o->stop = permissions->stop;
    o->stream = fopencookie(o, "w", (cookie_io_functions_t){.write = write_standard});
    return o->stream || output_complain(diags, file, errno);
  }
  if (!replacement_begin(&o->replacement, permissions, file, &problem)) {
    return complain_of(diags, file, &problem);
  }
  o->stream = o->replacement.stream;
  return true;
}

bool output_begin(struct output_file *o, const char *file, struct diag_list *diags) {
  const struct permissions user = process_user();
  return output_begin_as(o, &user, file, diags);
}

bool output_end(struct output_file *o, const char *file, struct diag_list *diags) {
  struct file_problem problem;
  if (o->standard) {
    errno = 0;
    if (fclose(o->stream) == 0 && fflush(stdout) == 0 && !ferror(stdout)) return true;
    return output_complain(diags, "standard output", errno);
  }
  return replacement_end(&o->replacement, &problem) || complain_of(diags, file, &problem);
}

void output_abandon(struct output_file *o) {
  if (o->standard) {
    fclose(o->stream); /* as far as it came */
  } else {
    replacement_abandon(&o->replacement);
  }
}

bool output_folder(const char *path, unsigned mode, struct diag_list *diags) {
  return mkdir(path, mode) == 0 || errno == EEXIST || output_complain(diags, path, errno);
}

bool output_cache_folder(char *path, size_t size, struct diag_list *diags) {
  const int error = cache_folder(path, size);
  if (error == ENOENT) {
    diag_add(
        diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
        "--native needs a folder for compiled code: neither XDG_CACHE_HOME nor HOME is set");
    return false;
  }
  if (error != 0) return output_complain(diags, "the folder of --native", error);
  char *own = strrchr(path, '/');
  *own = '\0';
  if (!output_folder(path, 0700, diags)) return false;
  *own = '/';
  return output_folder(path, 0700, diags);
}

bool output_native_wish(const char *text, enum native_wish *wish) {
  *wish = NATIVE_BESIDE;
  if (!text) return true;
  *wish = strcmp(text, "off") == 0 ? NATIVE_OFF : NATIVE_BEFORE;
  return *wish == NATIVE_OFF || strcmp(text, "wait") == 0;
}

bool output_native(enum native_wish wish, bool measured, char *path, size_t size,
                   struct machine_options *machine, struct diag_list *diags) {
  machine->compile = CVL_COMPILE_NONE;
  machine->compile_waits = measured || wish == NATIVE_BEFORE;
  if (wish == NATIVE_OFF) return true;
  if (wish == NATIVE_WHEN_IT_PAYS) {
    if (cache_folder(path, size) != 0) return true;
  } else if (!output_cache_folder(path, size, diags)) {
    return false;
  }
  machine->compile = wish == NATIVE_WHEN_IT_PAYS ? CVL_COMPILE_WHEN_IT_PAYS : CVL_COMPILE_ALL;
  machine->compile_directory = path;
  return true;
}
