/* neslc-library.c - neslc --library: compiles functions, and writes them as a library of C. */
#include "commands/neslc-library.h"

#include "commands/library-kernels.h"
#include "commands/library-make.h"
#include "commands/output.h"

#include <errno.h>
#include <string.h>

/* ---- the names of the library ---- */

struct names {
  struct making *m;
  ARRAY(const char *) list;
};

static bool add_entry_name(struct names *names, const char *name) {
  struct making *m = names->m;
  for (size_t i = 0; i < names->list.count; i++) {
    if (strcmp(names->list.items[i], name) != 0) continue;
    return library_wrong(
        m,
        "two things would be called %s_%s in C: give a function another name, as "
        "in --entry NAME=F",
        m->l.name, name);
  }
  *array_push(m->l.arena, &names->list) = name;
  return true;
}

static bool check_names(struct making *m) {
  struct names names = {.m = m};
  struct arena *arena = m->l.arena;
  const struct c_types *types = &m->l.types;
  bool fine = true;
  for (uint32_t i = 0; i < m->l.entry_count && fine; i++) {
    const char *name = m->l.entries[i].c_name;
    fine = add_entry_name(&names, name) &&
           add_entry_name(&names, arena_printf(arena, "%s_function", name));
  }
  for (size_t i = 0; i < types->list.count && fine; i++) {
    const struct c_type *t = types->list.items[i];
    if (t->kind == C_SCALAR) continue;
    fine = add_entry_name(&names, t->name) &&
           (!t->given || add_entry_name(&names, arena_printf(arena, "free_%s", t->name)));
  }
  return fine;
}

/* ---- files ---- */

static const char *folder_of(const struct making *m) {
  return m->o->output ? m->o->output : ".";
}

struct library_file {
  const char *suffix;
  void (*print)(const struct library *, FILE *);
  const struct library_entry *of; /* library_procedures_text of this entry instead */
};

static bool write_file(struct making *m, struct library_file f) {
  struct output_file out;
  struct memory_guard guard;
  struct diag_list *diags = &m->n->diags;
  const char *file = arena_printf(m->l.arena, "%s/%s%s", folder_of(m), m->l.name, f.suffix);
  if (!output_begin(&out, file, diags)) return false;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    output_abandon(&out);
    return output_complain(diags, file, ENOMEM);
  }
  if (f.of) {
    library_procedures_text(f.of, out.stream);
  } else {
    f.print(&m->l, out.stream);
  }
  memory_guard_end(&guard);
  return output_end(&out, file, diags);
}

static bool write_library_file(struct making *m, const char *suffix,
                               void (*print)(const struct library *, FILE *)) {
  return write_file(m, (struct library_file){suffix, print, NULL});
}

static bool write_procedures(struct making *m) {
  const struct library *l = &m->l;
  for (const struct library_entry *e = l->entries; e < l->entries + l->entry_count; e++) {
    if (!e->procedures) continue;
    if (!write_file(m, (struct library_file){library_procedures_suffix(l, e), NULL, e}))
      return false;
  }
  return true;
}

static bool write_kernel_files(struct making *m) {
  struct diag_list *diags = &m->n->diags;
  if (!m->o->kernels) return true;
  return library_superops(&m->l, diags) && library_procedures(&m->l, diags) &&
         write_library_file(m, ".cu", library_cuda_text) &&
         write_library_file(m, "-cpu.c", library_cpu_text) && write_procedures(m) &&
         library_compile(&m->l, folder_of(m), m->o->kernels, diags);
}

bool neslc_library(struct nesl *n, const struct neslc_options *o) {
  struct making m = {.n = n, .o = o};
  m.l = (struct library){.arena = &n->arena, .name = o->library};
  m.l.source = library_comment(&n->arena, o->file);
  m.l.types =
      (struct c_types){.arena = &n->arena, .library = o->library, .widths = o->session.widths};
  m.l.entries = arena_alloc(&n->arena, o->entry_count * sizeof *m.l.entries);
  nesl_forget(n);
  for (unsigned i = 0; i < o->entry_count; i++) {
    if (!library_make_entry(&m, o->entries[i])) return false;
  }
  return check_names(&m) && output_folder(folder_of(&m), 0777, &n->diags) &&
         write_library_file(&m, ".h", library_header) &&
         write_library_file(&m, ".c", library_source) && write_kernel_files(&m);
}
