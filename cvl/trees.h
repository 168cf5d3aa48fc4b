/* trees.h - the order in which a back end combines elements.
 *
 * ## The reproducible tree
 *
 * FLOAT sums and products depend on the order of combination, so the contract fixes the
 * order (vcode.md, section 21.2). `pad` and `identity` are those of operations.def; `+`
 * stands for the combining expression, its first operand on the left. There are three reasons
 * for this order. A block is one contiguous read, which a SIMD unit or a warp can do with its
 * lanes side by side. After padding with an exact neutral element every shape is the full one,
 * so short segments skip levels. All levels are alike, so a device needs one kernel for all.
 *
 * Reduction of x[0..n), CVL_REDUCE_LANES = 32, CVL_REDUCE_BLOCK = 1024:
 *
 *     reduce(x, n):
 *       if n == 0: return identity
 *       if n == 1: return x[0]
 *       while n > 1:
 *         for each block k of 1024 consecutive elements (the last may be shorter):
 *           lane[j] = x[b+j], for j < 32; pad where b+j is past the block's end
 *           for r = 1, 2, ...: lane[j] = lane[j] + x[b+32r+j]   where that element exists
 *           for w = 16, 8, 4, 2, 1: lane[j] = lane[j] + lane[j+w]   for j < w
 *           y[k] = lane[0]
 *         x, n = y, number of blocks
 *       return x[0]
 *
 * An exclusive scan of x[0..n), CVL_SCAN_ROW = 8, CVL_SCAN_WINDOW = 32, does the same on every
 * level, with windows of 8 on the lowest (one SIMD register) and of 32 above (one warp). Within
 * a window the inclusive prefix is that of Kogge and Stone, in which an element depends only
 * on those before it. Position i gets the prefix of all earlier windows, then of its own:
 *
 *     scan(x, n):                            e = prefix(x, n, 8); e[0] = identity; return e
 *     prefix(x, n, w):
 *       for each window k of w consecutive elements, padded to w with pad:
 *         a = the window
 *         for s = 1, 2, 4, ... < w: a'[j] = a[j-s] + a[j] for j >= s, else a[j];  a = a'
 *         t[k] = a[w-1];  inside[k] = a
 *       before = one window ? [pad] : prefix(t, number of windows, 32)
 *       e[i] = before[i / w]                                where i % w == 0
 *            = before[i / w] + inside[i / w][i % w - 1]      elsewhere
 *
 * Each segment is reduced and scanned by itself, as if it were alone.
 *
 * ## The tree that keeps order
 *
 * User-defined functions (the combinations of superop.h) are associative but perhaps not
 * commutative, and only nearly associative on FLOATs. For them the order of operands is that of
 * positions, and the tree is the perfect binary tree over positions counted from the start of
 * the segment. f stands for the function, x[0..n) for a segment:
 *
 *     T(p, 0) = x[p]                                       2^k elements from p on,
 *     T(p, k) = f(T(p, k-1), T(p + 2^(k-1), k-1))          p a multiple of 2^k
 *
 *     P(i): the combination of the i elements before position i, i > 0; 2^k the largest power
 *     of two that divides i:
 *       P(i) = T(0, k)                                     if i == 2^k
 *            = f(P(i - 2^k), T(i - 2^k, k))                elsewhere
 *
 *     reduction: P(n); identity if n == 0
 *     exclusive scan: e[0] = identity; e[i] = P(i)
 *     inclusive scan: P(i + 1)
 *
 * So P(13) = f(f(T(0, 3), T(8, 2)), x[12]). The identity is never combined. There are several
 * reasons for this tree. A block of any power of two is a subtree, so the tree is independent
 * of the size of blocks. A processor, a vector register and a thread block may each choose a
 * suitable size. Each level is one elementwise operation on pairs of neighbours. An element
 * depends only on its prefix. The last element of an inclusive scan, the next one of an
 * exclusive scan and the reduction are the same. A reduction takes n - 1 combinations, a scan
 * less than 2 n. (Blelloch, Prefix sums and their applications, 1990: up-sweep and down-sweep,
 * here for any n.)
 */
#ifndef RAVEL_CVL_TREES_H
#define RAVEL_CVL_TREES_H

enum { CVL_REDUCE_LANES = 32, CVL_REDUCE_BLOCK = 1024, CVL_SCAN_ROW = 8, CVL_SCAN_WINDOW = 32 };
/* The two lowest levels of a scan together. The levels above see only their total. */
enum { CVL_SCAN_TILE = CVL_SCAN_ROW * CVL_SCAN_WINDOW };

#endif
