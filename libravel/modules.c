/* modules.c - import "file" as m, in texts and files. */
#include "libravel/private.h"

#include "base/find-source.h"
#include "neslc/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct importing {
  struct ravel_context *c;
  enum ravel_code code; /* of what failed, which has been reported */
};

static struct source_search search_from(const struct ravel_context *c, const char *directory) {
  return (struct source_search){.permissions = c->options.machine.permissions,
                                .extension = ".nesl",
                                .directory = directory,
                                .folders = getenv("NESL_PATH")};
}

/* ---- reading and executing ---- */

struct file {
  const char *path;
  struct text text;
  const struct source *source;
};

static enum ravel_code make_module_source(struct ravel_context *c, void *data) {
  struct file *f = data;
  f->source = ravel_source(c, f->path, f->text.bytes, f->text.length, 1);
  return RAVEL_OK;
}

/* Reads a module's file, which lies in its own directory. */
static const struct source *read_module_file(void *context, const char *file,
                                             const char *shown) {
  struct importing *i = context;
  struct file f = {.path = shown};
  struct file_problem problem;
  char directory[PATH_MAX];
  (void)file; /* which is the same without links */
  source_directory(shown, directory);
  const struct source_search search = search_from(i->c, directory);
  const int fd = source_find_open(&search, shown, &problem);
  if (fd < 0) {
    i->code = ravel_fail(i->c, RAVEL_DATA, "%.300s: %s", shown, problem.text);
    return NULL;
  }
  i->code = text_begin(&f.text, &i->c->heap) ? ravel_read_file(i->c, shown, fd, &f.text)
                                             : ravel_fail_memory(i->c);
  if (i->code == RAVEL_OK) i->code = ravel_guarded(i->c, make_module_source, &f);
  text_free(&f.text);
  close(fd);
  return i->code == RAVEL_OK ? f.source : NULL;
}

static bool execute_module(void *context, const struct source *source) {
  struct importing *i = context;
  i->code = ravel_execute(i->c, source);
  return i->code == RAVEL_OK;
}

/* ---- importing ---- */

static enum ravel_code fail_missing(struct ravel_context *c, const struct form *form,
                                    struct complaints *complaints, const char *name,
                                    const struct source_found *found,
                                    const struct file_problem *problem) {
  if (problem->error != ENOENT && problem->error != ENOTDIR) {
    return ravel_fail(c, problem->error ? RAVEL_DATA : RAVEL_DENIED, "%.300s: %s", name,
                      problem->text);
  }
  module_complain_missing(complaints, form, name, found->looked);
  return ravel_failed(c, RAVEL_DATA);
}

enum ravel_code ravel_import_module(struct ravel_context *c, const struct form *form,
                                    struct complaints *complaints) {
  struct importing i = {c, RAVEL_OK};
  const struct module_files files = {read_module_file, execute_module, &i};
  struct module_request request = {.source = form->source, .at = form->at};
  struct source_found found;
  struct file_problem problem;
  char directory[PATH_MAX];
  const char *file;
  if (!module_read_words(c->session, form, complaints, &file, &request.name))
    return ravel_failed(c, ravel_code_of(complaints->first));
  if (c->file) source_directory(c->file, directory);
  const struct source_search search = search_from(c, c->file ? directory : NULL);
  if (!source_find(&search, file, &found, &problem))
    return fail_missing(c, form, complaints, file, &found, &problem);
  request.file = found.real;
  request.shown = found.path;
  if (c->session->module == c->session->program) c->session->round++;
  if (module_import(c->session, &request, &files, complaints)) return RAVEL_OK;
  return i.code != RAVEL_OK ? i.code : ravel_failed(c, ravel_code_of(complaints->first));
}
