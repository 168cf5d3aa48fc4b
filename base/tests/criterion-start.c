/* criterion-start.c - makes the start of a test's process cheap. Criterion initialises libgit2
 * in each of them, which then reads all certificates of the machine: half of a short test. It
 * needs libgit2 only to show how strings of `cr_assert(eq(str, ...))` differ, which no test
 * here uses. The dynamic linker takes these functions of the program before those of the
 * library. */

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

int git_libgit2_init(void) {
  return 1; /* the number of initialisations */
}

int git_libgit2_shutdown(void) {
  return 0;
}

/* Criterion reports an error instead of the difference. */
int git_diff_buffers(void) {
  return -1;
}
