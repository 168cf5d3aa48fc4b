/* combine-tree.hpp - the tree that keeps order (cvl/trees.h) by warps, with a function of a
 * program's own. It is written behind the prelude into kernels of superoperators with
 * combinations (emit-kernel-combine.c), which have a class C for each of them:
 *
 *     C::item                    a value for each column; columns(s): s of each
 *     C::f(l, r)                 the function, of two items
 *     C::arrays, C::operands     memory of items, items in any form; get(i), arrays.put(i,
 * item)
 *
 * On level 0 an entry is an element; on a level above it stands for the subtree of 2^bits
 * elements. A block of threads is a warp and does a block of the tree: 1024 entries of a
 * segment, counted from its start, the last one fewer; as rows of 32. Blocks have slots
 * (prelude.hpp). The totals of blocks that are whole are the entries of the next level, each at
 * its block's slot.
 *
 * A reduction is the combination, from left to right, of the largest subtrees that its segment
 * consists of. Those of a block that is not whole, its *roots*, wait in memory for the warp
 * that does the last level of the segment.
 */
namespace ravel {

enum { TREE_BITS = 10, TREE_BLOCK = 1 << TREE_BITS, ROW_BITS = 5 };

/* ---- where a block is ---- */

/* The index of the first entry of a segment. */
HERE inline int64_t tree_first(const segments &d, int64_t s, int bits) {
  return bits == 0 ? d.start(s) : (d.start(s) >> bits) + s;
}

struct tree_block {
  int64_t slot, segment, number; /* of the block in its segment */
  int64_t entries;               /* of the segment on this level */
  int64_t first;                 /* index of the block's first entry */
  int count;                     /* its entries; 0 where there is nothing to do */
  bool ends;                     /* this block is all there is of the segment on this level */

  HERE tree_block(const segments &d, int64_t at, int bits)
      : slot(at), segment(slot_segment(d, at, (int64_t)TREE_BLOCK << bits)) {
    const int64_t n = d.length(segment);
    number = slot - tree_first(d, segment, bits + TREE_BITS);
    entries = n >> bits;
    first = tree_first(d, segment, bits) + number * TREE_BLOCK;
    const bool ended = bits > 0 && n >> (bits - TREE_BITS) <= TREE_BLOCK; /* a level below */
    const int64_t left = entries - number * TREE_BLOCK;
    count = ended || left < 0 ? 0 : left < TREE_BLOCK ? (int)left : (int)TREE_BLOCK;
    ends = !ended && number == 0 && entries <= TREE_BLOCK;
  }

  HERE bool is_whole() const { return count == TREE_BLOCK; }
  HERE int whole_rows() const { return count >> ROW_BITS; }
  HERE int rest() const { return count & (WARP - 1); }
  HERE int rows() const { return (count + WARP - 1) >> ROW_BITS; }
  HERE int row(int r) const { return r < whole_rows() ? (int)WARP : rest(); }
};

/* ---- in a warp ---- */

template <class C, class B> using items_of = typename B::template reg<typename C::item>;

/* By value: to choose between addresses would take the items out of registers. */
template <class C>
HERE typename C::item chosen(bool first, typename C::item x, typename C::item y) {
  if (first) y = x;
  return y;
}

/* Upwards, n entries in the lanes: lane i - 1 gets T(i - 2^k, k), 2^k the largest power of two
 * that divides i. */
template <class C, class B> HERE void tree_up(B &block, items_of<C, B> &x, int n) {
  items_of<C, B> left{};
  ROLLED
  for (int w = 1; 2 * w <= n; w *= 2) {
    block.shift_up(left, x, w);
    block.each([&](int t) {
      if (((t + 1) & (2 * w - 1)) == 0 && t < n) x[t] = C::f(left[t], x[t]);
    });
  }
}

/* Downwards from there: lane i - 1 gets the combination of the first i entries with what comes
 * before them, if anything does. Lane 31 then has no meaning: what it takes is on other levels.
 */
template <class C, class B>
HERE void tree_down(B &block, items_of<C, B> &x, int n, bool any,
                    const items_of<C, B> &before) {
  items_of<C, B> left{};
  ROLLED
  for (int w = WARP / 2; w > 0; w /= 2) {
    block.shift_up(left, x, w);
    block.each([&](int t) {
      if (t >= n || ((t + 1) & (2 * w - 1)) != w || (t + 1 == w && !any)) return;
      x[t] = C::f(chosen<C>(t + 1 == w, before[t], left[t]), x[t]);
    });
  }
}

/* The totals of rows, that of row r in lane r. Rows are combined two at a time, each by half of
 * the lanes: on level k the lanes whose bit k is 0 go on with the first row, the others with
 * the second, and each gets its neighbour's half. So a row takes little more than one
 * combination of each lane. U rows come at a time, 1, 2 or 4. */
template <class C, class B, int U> struct row_totals {
  using items = items_of<C, B>;
  enum { ALREADY = U == 4 ? 2 : U == 2 ? 1 : 0 };

  items v[U];                /* rows to be taken */
  items saved[ROW_BITS + 1]; /* on level k, of rows before */

  /* y, the rows from `first` + 2^k on, with x, those before; none from row n on. */
  HERE static void merge(B &block, const items &x, items &y, int k, int first, int n) {
    items send{}, other{};
    block.each([&](int t) { send[t] = chosen<C>(t >> k & 1, x[t], y[t]); });
    block.exchange(other, send, 1 << k);
    block.each([&](int t) {
      if (first + (t & ((2 << k) - 1)) >= n) return;
      const bool second = t >> k & 1;
      y[t] = C::f(chosen<C>(second, other[t], x[t]), chosen<C>(second, y[t], other[t]));
    });
  }
  /* Rows r .. r + U - 1, as many of them as are below n, are in v. */
  HERE void take(B &block, int r, int n) {
    EVERY_TIME
    for (int k = 0; k < ALREADY; k++) {
      EVERY_TIME
      for (int q = 0; q < U; q += 2 << k) {
        merge(block, v[q + (1 << k) - 1], v[q + (2 << k) - 1], k, r + q, n);
      }
    }
    bool waits = false;
    EVERY_TIME
    for (int k = ALREADY; k < ROW_BITS; k++) {
      if (waits) continue;
      waits = (r >> k & 1) == 0;
      if (waits)
        saved[k] = v[U - 1];
      else
        merge(block, saved[k], v[U - 1], k, r & ~((2 << k) - 1), n);
    }
    if (!waits) saved[ROW_BITS] = v[U - 1];
  }
  /* After rows 0 .. r - 1 of n, which may be fewer. */
  HERE void finish(B &block, items &x, int r, int n) {
    for (; (r & (r - 1)) != 0 || r < n; r += U) take(block, r, n);
    int level = ALREADY;
    while (1 << level < r) level++;
    EVERY_TIME
    for (int k = ALREADY; k <= ROW_BITS; k++) {
      if (k == level) x = saved[k];
    }
    items right{};
    const int mask = (1 << level) - 1;
    ROLLED
    for (int k = level; k < ROW_BITS; k++) {
      block.shift_down(right, x, 1 << k);
      block.each([&](int t) {
        if ((t & mask) < n && (t >> k & 1) == 0) x[t] = C::f(x[t], right[t]);
      });
    }
  }
};

/* ---- reductions ---- */

/* Where the roots wait of the block that is not whole, which begins at the position: those of a
 * level behind those of the levels below. Of the segments with whole blocks, no two such blocks
 * begin in the same tile of as many elements, counted from the start of the vector. */
HERE inline int64_t tree_roots(const segments &d, int64_t position, int bits) {
  int64_t tiles = position >> bits >> TREE_BITS;
  for (int b = 0; b < bits; b += TREE_BITS) tiles += (d.total >> b >> TREE_BITS) + 1;
  return tiles * TREE_BITS;
}

/* Returns the lane that has the root of 2^k entries, after n entries in lanes were combined
 * upwards. */
HERE inline int tree_root_lane(int n, int k) {
  return (n >> k << k) - 1;
}

/* Stores the totals of the rows of a block of a reduction, and the entries of a row that is not
 * whole. */
template <class C, class B> struct reduced_block {
  using item = typename C::item;
  using items = items_of<C, B>;

  const segments &d;
  const tree_block &at;
  int bits;
  items &rows, &rest;

  HERE bool has(int k) const { return (at.count >> k & 1) != 0; }
  HERE int lane(int k) const {
    return k < ROW_BITS ? tree_root_lane(at.rest(), k)
                        : tree_root_lane(at.whole_rows(), k - ROW_BITS);
  }
  HERE void up(B &block) {
    tree_up<C>(block, rows, at.whole_rows());
    tree_up<C>(block, rest, at.rest());
  }
  /* The roots of this block, from left to right, in lane 0. */
  HERE void combine(B &block, items &sum) {
    items root{};
    bool any = false;
    ROLLED
    for (int k = TREE_BITS; k >= 0; k--) {
      if (!has(k)) continue;
      if (k < ROW_BITS)
        block.broadcast(root, rest, lane(k));
      else
        block.broadcast(root, rows, lane(k));
      block.each([&](int t) {
        if (t == 0 && any) root[t] = C::f(sum[t], root[t]);
        sum[t] = root[t];
      });
      any = true;
    }
  }
  /* And then those that wait on the levels below. */
  HERE item below(item sum, const typename C::arrays &roots) const {
    const int64_t n = d.length(at.segment), start = d.start(at.segment);
    for (int b = bits - TREE_BITS; b >= 0; b -= TREE_BITS) {
      const int64_t whole = n >> b >> TREE_BITS << TREE_BITS;
      const int64_t from = tree_roots(d, start + (whole << b), b);
      for (int k = TREE_BITS - 1; k >= 0; k--) {
        if ((n >> b >> k & 1) != 0) sum = C::f(sum, roots.get(from + k));
      }
    }
    return sum;
  }
  HERE void wait(B &block, const typename C::arrays &roots) {
    const int64_t position = d.start(at.segment) + (at.number << bits << TREE_BITS);
    const int64_t to = tree_roots(d, position, bits);
    block.each([&](int t) {
      for (int k = 0; k < TREE_BITS; k++) {
        if (has(k) && t == lane(k))
          roots.put(to + k, chosen<C>(k < ROW_BITS, rest[t], rows[t]));
      }
    });
  }
  HERE void give(B &block, const typename C::arrays &above, const typename C::arrays &roots,
                 const typename C::arrays &out) {
    if (at.count == 0) return;
    up(block);
    if (at.ends) {
      items sum{};
      combine(block, sum);
      block.each([&](int t) {
        if (t == 0) out.put(at.segment, below(sum[t], roots));
      });
    } else if (at.is_whole()) {
      block.each([&](int t) {
        if (t == WARP - 1) above.put(at.slot, rows[t]);
      });
    } else {
      wait(block, roots);
    }
  }
};

/* The total of a whole block, for scans. */
template <class C, class B>
HERE void give_total(B &block, const tree_block &at, items_of<C, B> &rows,
                     const typename C::arrays &above) {
  if (!at.is_whole() || at.ends) return;
  tree_up<C>(block, rows, WARP);
  block.each([&](int t) {
    if (t == WARP - 1) above.put(at.slot, rows[t]);
  });
}

/* ---- levels ---- */

/* The totals of the whole rows of a block, from memory. */
template <class C, class B>
HERE void total_rows(B &block, const tree_block &at, const typename C::operands &from,
                     items_of<C, B> &rows) {
  enum { U = 4 };
  row_totals<C, B, U> totals{};
  const int n = at.whole_rows();
  int r = 0;
  ROLLED
  for (; r < n; r += U) {
    block.each([&](int t) {
      EVERY_TIME
      for (int q = 0; q < U; q++) {
        if (r + q < n) totals.v[q][t] = from.get(at.first + (r + q) * WARP + t);
      }
    });
    totals.take(block, r, n);
  }
  if (n > 0) totals.finish(block, rows, r, n);
}

/* A level upwards: of reductions, or the totals for scans. */
template <class C> struct level_up {
  enum { threads = WARP };
  struct shared {};

  segments d;
  typename C::operands from, identity; /* identity: of reductions on level 0 */
  typename C::arrays above, roots, out;
  int64_t bits, reduces;

  template <class B> HERE void operator()(B &block) const {
    const tree_block at(d, block.index(), (int)bits);
    items_of<C, B> rows{}, rest{};
    if (reduces && bits == 0 && at.ends && at.count == 0) {
      block.each([&](int t) {
        if (t == 0) out.put(at.segment, identity.get(at.segment));
      });
    }
    if (at.count == 0 || (!reduces && (!at.is_whole() || at.ends))) return;
    total_rows<C>(block, at, from, rows);
    if (!reduces) {
      give_total<C>(block, at, rows, above);
      return;
    }
    block.each([&](int t) {
      if (t < at.rest()) rest[t] = from.get(at.first + at.whole_rows() * WARP + t);
    });
    reduced_block<C, B>{d, at, (int)bits, rows, rest}.give(block, above, roots, out);
  }
};

/* A level of scans downwards: from the prefixes on the level above, of as many entries as there
 * are up to each one, those of this level. */
template <class C> struct level_down {
  enum { threads = WARP };
  struct shared {};

  segments d;
  typename C::operands from, identity; /* identity: of exclusive scans */
  typename C::arrays above, out;
  int64_t bits, exclusive; /* exclusive: on level 0 */

  HERE void put(const tree_block &at, int64_t i, const typename C::item &x) const {
    const int64_t first = at.first - at.number * TREE_BLOCK;
    if (!exclusive) {
      out.put(first + i, x);
    } else {
      if (i == 0) out.put(first, identity.get(at.segment));
      if (i + 1 < at.entries) out.put(first + i + 1, x);
    }
  }

  template <class B> HERE void operator()(B &block) const {
    const tree_block at(d, block.index(), (int)bits);
    if (at.count == 0) return;
    const bool any = at.number > 0;
    const int64_t block_above = tree_first(d, at.segment, (int)bits + TREE_BITS) + at.number;
    items_of<C, B> rows{}, x{}, first{}, before{}, end{};
    block.each([&](int t) {
      if (any) first[t] = above.get(block_above - 1);
    });
    total_rows<C>(block, at, from, rows);
    tree_up<C>(block, rows, at.whole_rows());
    tree_down<C>(block, rows, at.whole_rows(), any, first);
    block.each([&](int t) {
      if (any && at.is_whole() && t == WARP - 1) rows[t] = above.get(block_above);
    });
    ROLLED
    for (int r = 0; r < at.rows(); r++) {
      const int n = at.row(r);
      block.each([&](int t) {
        if (t < n) x[t] = from.get(at.first + r * WARP + t);
      });
      before = first;
      if (r > 0) block.broadcast(before, rows, r - 1);
      tree_up<C>(block, x, n);
      tree_down<C>(block, x, n, any || r > 0, before);
      if (n == WARP) block.broadcast(end, rows, r);
      block.each([&](int t) {
        if (t >= n) return;
        put(at, at.number * TREE_BLOCK + r * WARP + t,
            chosen<C>(n == WARP && t == WARP - 1, end[t], x[t]));
      });
    }
  }
};

} // namespace ravel
