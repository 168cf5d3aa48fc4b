/* sanitizers.h - RAVEL_ASAN is defined where the compiler instruments for AddressSanitizer: gcc
 * says so by a macro, clang (and gcc from 14 on) by __has_feature. POISON says that n bytes at
 * p are not to be touched until UNPOISON; elsewhere both do nothing.
 */
#ifndef RAVEL_BASE_SANITIZERS_H
#define RAVEL_BASE_SANITIZERS_H

#ifdef __SANITIZE_ADDRESS__
#define RAVEL_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RAVEL_ASAN
#endif
#endif

#ifdef RAVEL_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#endif
