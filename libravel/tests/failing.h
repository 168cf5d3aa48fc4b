/* failing.h - the allocator of a test program, in which one allocation fails: malloc and the
 * like are those of failing.c, for the library, too.
 */
#ifndef RAVEL_LIBRAVEL_TESTS_FAILING_H
#define RAVEL_LIBRAVEL_TESTS_FAILING_H

/* From now on the allocation with this number, from 1, fails; 0: none. */
void failing_begin(long number);
/* Allocations asked for since then. */
long failing_asked(void);
/* Blocks that are allocated now. */
long failing_live(void);

#endif
