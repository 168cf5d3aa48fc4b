/* nesl-import.c - import, and where the files are that forms name. */
#include "commands/nesl.h"
#include "commands/source.h"
#include "neslc/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char extension[] = ".nesl";

/* ---- finding ---- */

/* A file that is in none of the directories: they are listed. Where `load` has only one, the
 * file is read, and that says why it cannot be. */
static bool complain_missing_module(struct nesl *n, const struct form *form, const char *name,
                                    const struct source_found *found,
                                    const struct file_problem *problem, bool typed) {
  const bool reads = strcmp(form->name->text, "load") == 0 && !strchr(found->looked, ',');
  if (problem->error == ENOENT || problem->error == ENOTDIR) {
    if (reads) return nesl_load_file(n, found->path, typed) != NULL;
    module_complain_missing(&n->complaints, form, name, found->looked);
    return false;
  }
  diag_add(&n->diags, SEVERITY_ERROR, name, (struct source_pos){0}, NULL, "%s", problem->text);
  if (n->complaints.first == NESL_OK) n->complaints.first = NESL_RUNTIME;
  return false;
}

bool nesl_find_file(struct nesl *n, const struct form *form, const char *name, bool typed,
                    struct source_found *found) {
  char directory[PATH_MAX];
  struct file_problem problem;
  struct source_search search = {.permissions = typed ? permissions_of_user(NULL)
                                                      : n->options->machine.permissions,
                                 .extension = extension,
                                 .folders = getenv("NESL_PATH")};
  if (n->reading.file) {
    source_directory(n->reading.file, directory);
    search.directory = directory;
  }
  return source_find(&search, name, found, &problem) ||
         complain_missing_module(n, form, name, found, &problem, typed);
}

/* ---- importing ---- */

struct importing {
  struct nesl *n;
  const struct form *form;
};

static const struct source *read_imported_file(void *context, const char *file,
                                               const char *shown) {
  const struct importing *i = context;
  (void)file; /* which is the same without links */
  return nesl_load_file(i->n, shown, false);
}

/* Executes definitions and assignments; expressions are only checked. */
static bool execute_imported(void *context, const struct source *source) {
  const struct importing *i = context;
  struct nesl *n = i->n;
  const enum nesl_extent extent = n->extent;
  const bool silent = n->silent;
  if (!nesl_begin_load(n, i->form, i->form->at)) return false;
  if (extent == EVALUATE_ALL) n->extent = EVALUATE_ASSIGNMENTS;
  n->silent = true;
  const unsigned failed = nesl_run_file(n, source);
  n->silent = silent;
  n->extent = extent;
  n->load_depth--;
  nesl_forget(n);
  return failed == 0 || nesl_complain_of_load(n, i->form, i->form->at, failed, source->name);
}

bool nesl_import(struct nesl *n, const struct form *form) {
  struct importing i = {n, form};
  const struct module_files files = {read_imported_file, execute_imported, &i};
  struct module_request request = {.source = form->source, .at = form->at};
  struct source_found found;
  const char *file;
  if (!module_read_words(n->session, form, &n->complaints, &file, &request.name) ||
      !nesl_find_file(n, form, file, n->reading.typed, &found)) {
    return false;
  }
  request.file = found.real;
  request.shown = found.path;
  return module_import(n->session, &request, &files, &n->complaints);
}
