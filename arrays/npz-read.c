/* npz-read.c - reads values from a numpy archive in the layout of npz-write.c, or from arrays
 * that numpy.savez wrote under any names. In their order these are the components of a tuple.
 */
#include "arrays/zip.h"

#include <string.h>

struct reading {
  struct arena *arena;
  struct arena *scratch; /* of the bytes of one array, where these are compressed */
  const struct array_type *type;
  const char *next; /* in the signature */
  bool named;       /* the next components are those of a record, and have its names */
  struct zip zip;
  ARRAY(const char *) roots; /* the names of the components outside of sequences */
  struct array_column *column;
  const char **problem;
};

/* ---- names ---- */

/* Whether a member's name is this path, with .npy behind it. */
static bool is_path(const struct zip_member *m, const char *path, size_t length) {
  return strncmp(m->name, path, length) == 0 && strcmp(m->name + length, ".npy") == 0;
}

static const struct zip_member *member(const struct reading *r, const char *path) {
  const size_t length = strlen(path);
  for (size_t i = 0; i < r->zip.members.count; i++) {
    if (is_path(&r->zip.members.items[i], path, length)) return &r->zip.members.items[i];
  }
  return NULL;
}

/* Whether there is anything of this path. */
static bool has_path(const struct reading *r, const char *path) {
  const size_t length = strlen(path);
  for (size_t i = 0; i < r->zip.members.count; i++) {
    const char *name = r->zip.members.items[i].name;
    if (strncmp(name, path, length) == 0 && name[length] == '.') return true;
  }
  return false;
}

static const char *root_names_text(const struct reading *r) {
  enum { MOST = 12 };
  const char *text = "";
  for (size_t i = 0; i < r->zip.members.count && i < MOST; i++) {
    text = arena_printf(r->arena, "%s%s%.40s", text, i > 0 ? ", " : "",
                        r->zip.members.items[i].name);
  }
  return r->zip.members.count > MOST ? arena_printf(r->arena, "%s ...", text) : text;
}

/* Collects the components' names: the part of a name before its first point. */
static void find_roots(struct reading *r) {
  for (size_t i = 0; i < r->zip.members.count; i++) {
    arena_poll(r->arena);
    const char *name = r->zip.members.items[i].name;
    const char *root = arena_copy(r->arena, name, strcspn(name, "."));
    bool known = false;
    for (size_t k = 0; k < r->roots.count && !known; k++)
      known = strcmp(r->roots.items[k], root) == 0;
    if (!known) *array_push(r->arena, &r->roots) = root;
  }
}

static bool open_archive(struct reading *r, struct arena *arena, const char *bytes,
                         size_t length, const char **problem) {
  *r = (struct reading){.arena = arena, .problem = problem};
  r->zip = (struct zip){.arena = arena, .problem = problem};
  if (!zip_read(&r->zip, bytes, length)) return false;
  find_roots(r);
  return true;
}

/* The function that with_scratch calls, and its context. */
struct work {
  struct reading *r;
  bool (*work)(void *context);
  void *context;
  bool fine;
};

static void with_arena(struct arena *scratch, void *context) {
  struct work *w = context;
  w->r->scratch = scratch;
  w->fine = w->work(w->context);
}

/* Calls work(context), in which r has an arena for bytes. */
static bool with_scratch(struct reading *r, bool (*work)(void *context), void *context) {
  struct work w = {r, work, context, false};
  if (!arena_with(r->arena->heap, with_arena, &w)) memory_failed();
  return w.fine;
}

/* ---- one array ---- */

/* Reads an array of this type and returns its columns. NULL after setting the problem. */
static const struct array_column *read_array(struct reading *r, const char *path,
                                             const struct array_type *type) {
  const struct zip_member *m = member(r, path);
  struct array_columns columns;
  const char *problem = NULL;
  if (!m) {
    (void)array_fail(r->arena, r->problem, "there is no array '%s': the file has %s", path,
                     root_names_text(r));
    return NULL;
  }
  struct array_type here = *type;
  here.spills = r->type->spills;
  const struct arena_point mark = arena_mark(r->scratch);
  const char *bytes = zip_bytes(&r->zip, m, r->scratch);
  if (!bytes) return NULL;
  here.bytes_stay =
      m->deflated ? here.spills && array_spills_hold(here.spills, bytes) : r->type->bytes_stay;
  const bool fine = npy_read(r->arena, &here, bytes, m->length, &columns, &problem);
  arena_free_since(r->scratch, mark);
  if (fine) return columns.items;
  (void)array_fail(r->arena, r->problem, "%s: %s", path, problem);
  return NULL;
}

/* Checks the number of elements, or takes it if it is not known yet. */
static bool is_element_count(struct reading *r, const char *path, uint64_t length,
                             uint64_t *count) {
  if (*count == UINT64_MAX) *count = length;
  return *count == length ||
         array_fail(r->arena, r->problem, "%s has %llu element%s where %llu are expected", path,
                    (unsigned long long)length, length == 1 ? "" : "s",
                    (unsigned long long)*count);
}

/* Reads a column of as many elements as `count` says. */
static bool npz_read_column(struct reading *r, const char *path, bool in_sequence,
                            uint64_t *count) {
  uint8_t leaves[] = {(uint8_t)array_leaf_of(*r->next++)};
  const struct array_type type = {.depth = in_sequence, .leaf_count = 1, .leaves = leaves};
  const struct array_column *columns = read_array(r, path, &type);
  if (!columns) return false;
  *r->column = columns[in_sequence ? 1 : 0];
  return is_element_count(r, path, r->column++->length, count);
}

/* Makes the next column: the differences of n + 1 numbers. */
static bool subtract(struct reading *r, const int64_t *offsets, uint64_t n) {
  struct array_growing lengths;
  struct array_spills *spills =
      n * sizeof *offsets >= ARRAY_SPILLED_LEAST ? r->type->spills : NULL;
  if (!array_grow_begin(&lengths, r->arena, ARRAY_INT, spills, r->problem)) return false;
  array_grow_expect(&lengths, n);
  for (uint64_t i = 0; i < n; i++) {
    arena_poll(r->arena);
    array_passed(spills, sizeof *offsets);
    if (!array_grow_int(&lengths, offsets[i + 1] - offsets[i], r->problem)) return false;
  }
  return array_grow_end(&lengths, r->column++, r->problem);
}

/* Reads offsets, which become lengths. */
static bool read_offsets(struct reading *r, const char *path, uint64_t *count,
                         uint64_t *total) {
  uint8_t leaves[] = {ARRAY_INT};
  const struct array_type type = {.depth = 1, .leaf_count = 1, .leaves = leaves};
  const struct array_column *columns = read_array(r, path, &type);
  if (!columns) return false;
  const struct array_column *offsets = &columns[1];
  bool fine = offsets->length > 0 && offsets->as.ints[0] == 0;
  const uint64_t n = fine ? offsets->length - 1 : 0;
  for (uint64_t i = 0; i < n && fine; i++)
    fine = offsets->as.ints[i + 1] >= offsets->as.ints[i];
  if (!fine) {
    return array_fail(r->arena, r->problem, "%s: offsets begin with 0 and never decrease",
                      path);
  }
  if (!subtract(r, offsets->as.ints, n)) return false;
  *total = (uint64_t)offsets->as.ints[n];
  return is_element_count(r, path, n, count);
}

/* ---- whole arrays ---- */

/* Reads a sequence that is an array in the file, rectangular, or of texts or structures. Within
 * a sequence its outermost dimension is that of the sequences around it. */
static bool npz_read_whole(struct reading *r, const char *path, bool in_sequence,
                           uint64_t *count) {
  const char *end = array_value_end(r->next), *problem = NULL;
  const char *signature =
      arena_printf(r->arena, "%s%.*s", in_sequence ? "[" : "", (int)(end - r->next), r->next);
  struct array_type type;
  if (!array_type_parse(ARRAY_NPY, r->arena, signature, strlen(signature), &type, &problem)) {
    return array_fail(r->arena, r->problem,
                      "%s is an array, and no sequence of what the program wants", path);
  }
  const struct array_column *columns = read_array(r, path, &type);
  if (!columns) return false;
  uint32_t first = 0;
  if (in_sequence && !is_element_count(r, path, (uint64_t)columns[first++].as.ints[0], count))
    return false;
  for (uint32_t i = first; i < array_column_count(&type); i++) *r->column++ = columns[i];
  r->next = end;
  return true;
}

/* ---- values ---- */

static bool read_components(struct reading *, const char *path, uint64_t *count);

static bool npz_read_value(struct reading *r, const char *path, bool in_sequence,
                           uint64_t *count) {
  if (*r->next != '[') return npz_read_column(r, path, in_sequence, count);
  if (member(r, path)) return npz_read_whole(r, path, in_sequence, count);
  uint64_t total = UINT64_MAX;
  if (in_sequence) {
    if (!read_offsets(r, arena_printf(r->arena, "%s.offsets", path), count, &total))
      return false;
    r->next++;
    return read_components(r, arena_printf(r->arena, "%s.values", path), &total);
  }
  struct array_column *length = r->column++;
  r->next++;
  if (!read_components(r, path, &total)) return false;
  *length = array_ints(r->arena, 1);
  length->as.ints[0] = (int64_t)total;
  return true;
}

/* Returns the name of the array from numpy.savez that may be this field; NULL if there is none.
 */
static const char *root_of_field(const struct reading *r, const char *field) {
  for (size_t i = 0; i < r->roots.count; i++) {
    const char *root = r->roots.items[i];
    if (array_name_fits(root, strlen(root), field)) return root;
  }
  return NULL;
}

/* Returns whether all fields of a record are names of arrays in the file. */
static bool are_roots(const struct reading *r) {
  const uint32_t fields = array_field_count(r->type);
  uint32_t found = 0;
  while (found < fields && root_of_field(r, array_field(r->type, found))) found++;
  return fields > 0 && found == fields;
}

/* Returns where a component of a sequence's elements is. A record's component is found by its
 * name, if that is in the file. With an empty path the fields are whole arrays. */
static const char *component_path(const struct reading *r, const char *path, bool named,
                                  uint32_t index) {
  const char *field = named ? array_field(r->type, index) : NULL;
  if (field && !*path) return root_of_field(r, field);
  const char *by_name = field ? arena_printf(r->arena, "%s.%s", path, field) : NULL;
  if (field && (member(r, by_name) || has_path(r, by_name))) return by_name;
  return arena_printf(r->arena, "%s.%u", path, index);
}

/* Reads the elements of a sequence. */
static bool read_components(struct reading *r, const char *path, uint64_t *count) {
  if (*r->next != '(') return npz_read_value(r, path, true, count);
  const bool named = r->named;
  r->named = false;
  uint32_t index = 0;
  for (unsigned wanted = 1; wanted > 0; wanted--) {
    for (; *r->next == '('; r->next++) wanted++;
    if (!npz_read_value(r, component_path(r, path, named, index++), true, count)) return false;
  }
  return true;
}

static bool enough_roots(struct reading *r, size_t wanted) {
  if (wanted == r->roots.count) return true;
  return array_fail(r->arena, r->problem,
                    "the file has %zu array%s, %s, and the program's value %zu component%s",
                    r->roots.count, r->roots.count == 1 ? "" : "s", root_names_text(r), wanted,
                    wanted == 1 ? "" : "s");
}

/* Reads the components outside of sequences: a record's by their names, if all are in the file,
 * else the arrays in their order. */
static bool read_roots(struct reading *r, bool by_name) {
  const uint32_t count = array_component_count(r->next);
  if (!by_name && !enough_roots(r, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t one = 1;
    while (*r->next == '(') r->next++;
    const char *root = by_name ? root_of_field(r, array_field(r->type, i)) : r->roots.items[i];
    if (!npz_read_value(r, root, false, &one)) return false;
  }
  return true;
}

static bool npz_read_all(void *reading) {
  struct reading *r = reading;
  const bool rows = r->next[0] == '[' && r->next[1] == '(', by_name = are_roots(r);
  uint64_t one = 1;
  if (rows && by_name) return npz_read_value(r, "", false, &one);
  return read_roots(r, by_name && *r->next != '[');
}

bool npz_read(struct arena *arena, const struct array_type *type, const char *bytes,
              size_t length, struct array_columns *out, const char **problem) {
  struct reading r;
  if (!open_archive(&r, arena, bytes, length, problem)) return false;
  out->count = array_column_count(type);
  out->items = arena_alloc(arena, out->count * sizeof *out->items);
  r.column = out->items;
  r.type = type;
  r.zip.spills = type->spills;
  r.next = type->signature;
  r.named = array_field_count(type) > 0 && *r.next == '[';
  return with_scratch(&r, npz_read_all, &r);
}

/* ---- the type of a file ---- */

struct guessing {
  struct reading r;
  const char *signature;
};

static void add_letters(struct guessing *g, const char *text) {
  g->signature = arena_printf(g->r.arena, "%s%s", g->signature, text);
}

/* Arrays of single bytes are characters here, as npz-write.c writes them, not texts of one. */
static void find_characters(struct guessing *g, const char *bytes, size_t length,
                            struct array_type *type) {
  struct npy_header h;
  (void)npy_header_parse(g->r.arena, bytes, length, &h, g->r.problem);
  for (uint32_t i = 0; i < type->leaf_count; i++) {
    if (h.fields[i].kind == 'S' && h.fields[i].size == 1) type->leaves[i] = ARRAY_CHAR;
  }
}

/* Reads the type from the header of an array. numpy itself refuses a header of 10,000 bytes. */
static bool read_header(struct guessing *g, const char *path, const struct zip_member *m,
                        struct array_type *type) {
  size_t length = 1 << 20;
  const char *problem = NULL;
  const struct arena_point mark = arena_mark(g->r.scratch);
  const char *bytes = zip_head(&g->r.zip, m, g->r.scratch, &length);
  if (!bytes) return false;
  const bool fine = npy_guess(g->r.arena, bytes, length, type, &problem);
  if (fine) find_characters(g, bytes, length, type);
  arena_free_since(g->r.scratch, mark);
  return fine || array_fail(g->r.arena, g->r.problem, "%s: %s", path, problem);
}

static bool guess_array(struct guessing *g, const char *path, const struct zip_member *m,
                        bool in_sequence) {
  struct array_type type = {.csv = NULL};
  if (!read_header(g, path, m, &type)) return false;
  if (in_sequence && type.depth == 0) {
    return array_fail(g->r.arena, g->r.problem, "%s: a number where a sequence is expected",
                      path);
  }
  for (uint32_t i = in_sequence; i < type.depth; i++) add_letters(g, "[");
  for (uint32_t i = 0; i < type.leaf_count; i++) {
    static const char *const letters[] = {"i", "f", "b", "c", "[c"};
    if (i + 1 < type.leaf_count) add_letters(g, "(");
    add_letters(g, letters[type.leaves[i]]);
  }
  return true;
}

/* Guesses the type of the value with this path, within so many (`depth`) sequences. */
static bool guess_value(struct guessing *g, const char *path, unsigned depth) {
  const struct zip_member *m = member(&g->r, path);
  if (m) return guess_array(g, path, m, depth > 0);
  const char *offsets = arena_printf(g->r.arena, "%s.offsets", path);
  const char *first = arena_printf(g->r.arena, "%s.0", path);
  if (depth > ARRAY_MOST_DIMENSIONS)
    return array_fail(g->r.arena, g->r.problem, "more than %d dimensions",
                      ARRAY_MOST_DIMENSIONS);
  if (depth == 0) {
    add_letters(g, "[");
    depth++;
  }
  if (has_path(&g->r, offsets)) {
    add_letters(g, "[");
    return guess_value(g, arena_printf(g->r.arena, "%s.values", path), depth + 1);
  }
  if (!has_path(&g->r, first)) {
    return array_fail(g->r.arena, g->r.problem, "there is no array '%s': the file has %s", path,
                      root_names_text(&g->r));
  }
  for (unsigned i = 0; first; i++) {
    const char *here = first;
    first = arena_printf(g->r.arena, "%s.%u", path, i + 1);
    if (!has_path(&g->r, first)) first = NULL;
    if (first) add_letters(g, "(");
    if (!guess_value(g, here, depth)) return false;
  }
  return true;
}

static bool guess_roots(void *guessing) {
  struct guessing *g = guessing;
  for (size_t i = 0; i < g->r.roots.count; i++) {
    if (i + 1 < g->r.roots.count) add_letters(g, "(");
    if (!guess_value(g, g->r.roots.items[i], 0)) return false;
  }
  return true;
}

bool npz_guess(struct arena *arena, const char *bytes, size_t length, struct array_type *type,
               const char **problem) {
  struct guessing g = {.signature = ""};
  if (!open_archive(&g.r, arena, bytes, length, problem)) return false;
  if (g.r.roots.count == 0) return array_fail(arena, problem, "the file has no arrays");
  if (!with_scratch(&g.r, guess_roots, &g)) return false;
  return array_type_parse(ARRAY_NPZ, arena, g.signature, strlen(g.signature), type, problem);
}
