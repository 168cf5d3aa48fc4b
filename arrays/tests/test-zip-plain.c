/* test-zip-plain.c - archives in a build without zlib: checks are the same, and what is
 * compressed is refused with a sentence that helps.
 */
#include "arrays/zip.h"
#include "base/tests/memory.h"

TestSuite(zip_plain, .init = memory_begin, .fini = memory_end);

Test(zip_plain, the_check_of_the_digits) {
  cr_expect_eq(zip_check(0, "123456789", 9), 0xCBF43926);
  cr_expect_eq(zip_check(zip_check(0, "1234", 4), "56789", 5), 0xCBF43926);
}

Test(zip_plain, compressed_members) {
  const char *problem = "none";
  struct zip z = {.arena = &arena, .problem = &problem};
  const struct zip_member m = {.name = "v.npy", .deflated = true};
  cr_expect_null(zip_inflate(&z, &m, &arena, 0));
  cr_expect_str_eq(problem, "'v.npy' is compressed, and Ravel was built without zlib; write it "
                            "with numpy.savez, not savez_compressed");
}
