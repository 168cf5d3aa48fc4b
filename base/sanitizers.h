/* sanitizers.h - RAVEL_ASAN is defined where the compiler instruments for AddressSanitizer: gcc
 * says so by a macro, clang (and gcc from 14 on) by __has_feature.
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

#endif
