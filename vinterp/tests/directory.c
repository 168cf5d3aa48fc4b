/* directory.c - see directory.h. */
#include "vinterp/tests/directory.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[32];

void directory_begin(void) {
  strcpy(directory, "/tmp/ravel-test-XXXXXX");
  cr_assert(mkdtemp(directory));
  cr_assert_eq(chdir(directory), 0);
}

void directory_end(void) {
  DIR *files = opendir(directory);
  cr_assert(files);
  for (struct dirent *file; (file = readdir(files));) {
    if (file->d_name[0] != '.') unlinkat(dirfd(files), file->d_name, 0);
  }
  closedir(files);
  cr_assert_eq(rmdir(directory), 0);
}

void expect_stream_failure(struct stream_status status, const char *part) {
  cr_assert(!status.ok);
  cr_assert_eq(status.memory, 0);
  cr_assert(strstr(status.message, part), "\"%s\" lacks \"%s\"", status.message, part);
}

int64_t stream_opened(stream_opener *open, struct streams *s, const char *name,
                      enum stream_mode mode) {
  int64_t n;
  struct stream_status status = open(s, name, strlen(name), mode, &n);
  cr_assert(status.ok, "%s: %s", name, status.message);
  return n;
}
