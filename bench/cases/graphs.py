"""Irregular programs: graphs, the product of sparse matrices, and k-means.

Graphs and matrices go in as CSR (lengths of rows, columns in ascending order), or as edges. All
generators are vectorised and draw from the generator that they are given only.
"""

import collections

import numpy

from case import Case

# ---- graphs, as their edges, each once, (us, vs)


def distinct(n, us, vs):
    """Edges without loops and repetitions, u < v, ascending."""
    low, high = numpy.minimum(us, vs), numpy.maximum(us, vs)
    keys = numpy.unique((low * n + high)[low != high])
    return keys // max(n, 1), keys % max(n, 1)


def random_edges(degree):
    """Ends anywhere; so many neighbours on average."""
    def make(n, rng):
        us, vs = rng.integers(0, max(n, 1), (2, n * degree // 2))
        return distinct(n, us, vs)
    return make


def power_law_edges(degree, slope=0.6):
    """Vertex number i, before all are renamed at random, is an end with probability ~ i^-slope:
    the largest have thousands of neighbours (exponent of the degrees 1 + 1/slope)."""
    def make(n, rng):
        ends = (n * rng.random((2, n * degree // 2)) ** (1 / (1 - slope))).astype(numpy.int64)
        us, vs = rng.permutation(n)[ends]
        return distinct(n, us, vs)
    return make


def grid_edges(n, rng):
    """A square, as far as n goes, with edges to the right and down; named row by row."""
    side = max(int(n ** 0.5), 1)
    v = numpy.arange(n)
    right, down = v[(v + 1) % side != 0], v
    us, vs = numpy.concatenate([right, down]), numpy.concatenate([right + 1, down + side])
    return us[vs < n], vs[vs < n]


def path_edges(n, rng):
    """One path through all vertices, in random order."""
    order = rng.permutation(n)
    return distinct(n, order[:-1], order[1:])


def rows(n, us, vs):
    """CSR of pairs (row, column): lengths and columns, ascending in each row."""
    keys = numpy.sort(us * max(n, 1) + vs)
    return numpy.bincount(us, minlength=n).astype(numpy.int64), keys % max(n, 1)


def adjacency(edges):
    """make(n, rng) -> lengths, neighbours, of a generator of edges; both directions."""
    def make(n, rng):
        us, vs = edges(n, rng)
        return list(rows(n, numpy.concatenate([us, vs]), numpy.concatenate([vs, us])))
    return make


def lists(lengths, columns):
    """CSR as lists of Python."""
    ends = numpy.cumsum(lengths)
    return [columns[e - k:e].tolist() for e, k in zip(ends, lengths)]


# ---- breadth-first search


def from_busiest(edges):
    """A graph, and as the source the vertex with most neighbours: that reaches much."""
    def make(n, rng):
        lengths, neighbours = adjacency(edges)(n, rng)
        return [lengths, neighbours, int(numpy.argmax(lengths))]
    return make


def from_corner(n, rng):
    return [*adjacency(grid_edges)(n, rng), 0]


def levels(arguments):
    lengths, neighbours, source = arguments
    graph = lists(lengths, neighbours)
    level = [-1] * len(graph)
    level[source] = 0
    queue = collections.deque([source])
    while queue:
        v = queue.popleft()
        for w in graph[v]:
            if level[w] < 0:
                level[w] = level[v] + 1
                queue.append(w)
    return [numpy.array(level)]


# ---- connected components and spanning trees


class Components:
    """Sets of vertices that grow together; the least of each names it."""

    def __init__(self, n):
        self.parent = list(range(n))

    def find(self, v):
        while self.parent[v] != v:
            self.parent[v] = self.parent[self.parent[v]]
            v = self.parent[v]
        return v

    def join(self, u, v):
        """Whether they were apart."""
        u, v = self.find(u), self.find(v)
        self.parent[max(u, v)] = min(u, v)
        return u != v


def edge_list(edges):
    """The edges in random order and directions: as those of a file are."""
    def make(n, rng):
        us, vs = edges(n, rng)
        order = rng.permutation(len(us))
        turned = rng.random(len(us)) < 0.5
        us, vs = us[order], vs[order]
        return [n, numpy.where(turned, vs, us), numpy.where(turned, us, vs)]
    return make


def components(arguments):
    n, us, vs = arguments
    sets = Components(n)
    for u, v in zip(us.tolist(), vs.tolist()):
        sets.join(u, v)
    return [numpy.array([sets.find(v) for v in range(n)], dtype=numpy.int64)]


def weighted(edges):
    def make(n, rng):
        arguments = edge_list(edges)(n, rng)
        weights = rng.random(len(arguments[1]))
        while len(numpy.unique(weights)) < len(weights):
            weights = rng.random(len(weights))
        return [*arguments, weights]
    return make


def spanning_forest(arguments):
    """Kruskal's: edges in ascending order, each that joins two trees."""
    n, us, vs, weights = arguments
    sets = Components(n)
    chosen = numpy.zeros(len(weights), dtype=bool)
    for e in numpy.argsort(weights):
        chosen[e] = sets.join(int(us[e]), int(vs[e]))
    return [numpy.array([weights[chosen].sum()]), chosen]


# ---- independent sets and matchings


def in_random_order(edges):
    def make(n, rng):
        return [*adjacency(edges)(n, rng), rng.permutation(n)]
    return make


def independent_set(arguments):
    lengths, neighbours, order = arguments
    graph = lists(lengths, neighbours)
    taken = numpy.zeros(len(graph), dtype=bool)
    for v in order.tolist():
        taken[v] = not taken[graph[v]].any()
    return [taken]


def matching(arguments):
    n, us, vs = arguments
    mates = numpy.full(n, -1)
    for e, (u, v) in enumerate(zip(us.tolist(), vs.tolist())):
        if u != v and mates[u] < 0 and mates[v] < 0:
            mates[u] = mates[v] = e
    return [mates]


# ---- forests


def forest(parents_of):
    """Vertices in random order, with values of both signs; parents_of(n, rng) are positions before."""
    def make(n, rng):
        names = rng.permutation(n)
        parents = numpy.empty(n, dtype=numpy.int64)
        parents[names] = names[parents_of(n, rng)]
        return [parents, rng.integers(-1000, 1000, n)]
    return make


def bushy(n, rng):
    """Each vertex below one of those before it; a few roots."""
    parents = (rng.random(n) * numpy.arange(n)).astype(numpy.int64)
    return numpy.where(rng.random(n) < 1e-5, numpy.arange(n), parents)


def lanky(n, rng):
    """Long paths, with a branch at every thousandth vertex."""
    before = numpy.maximum(numpy.arange(n) - 1, 0)
    return numpy.where(rng.random(n) < 1e-3, (rng.random(n) * numpy.arange(n)).astype(numpy.int64), before)


def subtree_sums(arguments):
    """Edges are looked at from below: a vertex adds its sum when all of its children have."""
    parents, values = (a.tolist() for a in arguments)
    missing = [0] * len(parents)
    for v, p in enumerate(parents):
        missing[p] += p != v
    ready = [v for v, count in enumerate(missing) if count == 0]
    while ready:
        v = ready.pop()
        p = parents[v]
        if p != v:
            values[p] += values[v]
            missing[p] -= 1
            if missing[p] == 0:
                ready.append(p)
    return [numpy.array(values, dtype=numpy.int64)]


# ---- PageRank


def web(edges, steps):
    """Links are edges in a random direction: CSR of the incoming ones, and how many go out."""
    def make(n, rng):
        _, us, vs = edge_list(edges)(n, rng)
        lengths, sources = rows(n, vs, us)
        return [lengths, sources, numpy.bincount(us, minlength=n).astype(numpy.int64), steps]
    return make


def page_ranks(arguments):
    lengths, sources, degrees, steps = arguments
    n = len(lengths)
    targets = numpy.repeat(numpy.arange(n), lengths)
    ranks = numpy.full(n, 1 / n)
    for _ in range(steps):
        passed = numpy.bincount(targets, ranks[sources] / degrees[sources], minlength=n)
        ranks = 0.15 / n + 0.85 * (passed + ranks[degrees == 0].sum() / n)
    return [ranks]


# ---- triangles


def triangles(arguments):
    """Over all edges, the neighbours that both ends have: three times the number."""
    graph = [set(row) for row in lists(*arguments)]
    return [sum(len(graph[v] & graph[w]) for v, row in enumerate(graph) for w in row) // 6]


# ---- sparse matrices


def sparse(edges):
    """Two square matrices, of the pattern of a graph with its diagonal; values of both signs."""
    def make(n, rng):
        both = []
        for _ in range(2):
            us, vs = edges(n, rng)
            v = numpy.arange(n)
            lengths, columns = rows(n, numpy.concatenate([us, vs, v]),
                                    numpy.concatenate([vs, us, v]))
            both += [lengths, columns, rng.uniform(-1, 1, len(columns))]
        return both
    return make


def product(arguments):
    a_lengths, a_columns, a_values, b_lengths, b_columns, b_values = arguments
    a, b = lists(a_lengths, a_columns), lists(b_lengths, b_columns)
    x, y = lists(a_lengths, a_values), lists(b_lengths, b_values)
    lengths, columns, values = [], [], []
    for row, numbers in zip(a, x):
        total = collections.defaultdict(float)
        for k, number in zip(row, numbers):
            for column, value in zip(b[k], y[k]):
                total[column] += number * value
        lengths.append(len(total))
        columns += sorted(total)
        values += [total[column] for column in sorted(total)]
    return [numpy.array(lengths, dtype=numpy.int64), numpy.array(columns, dtype=numpy.int64),
            numpy.array(values, dtype=float)]


# ---- k-means


def clusters(k, steps):
    """Points around k middles in the unit square; centres begin at random points."""
    def make(n, rng):
        middles = rng.random((k, 2))
        points = middles[rng.integers(0, k, n)] + rng.normal(0, 0.05, (n, 2))
        centres = points[rng.choice(n, k, replace=n < k)] if n else middles
        return [*numpy.ascontiguousarray(points.T), *numpy.ascontiguousarray(centres.T), steps]
    return make


def lloyd(arguments):
    xs, ys, centre_xs, centre_ys, steps = arguments
    points, centres = numpy.stack([xs, ys], 1), numpy.stack([centre_xs, centre_ys], 1)

    def nearest():
        return numpy.argmin(((points[:, None] - centres) ** 2).sum(2), axis=1)
    for _ in range(steps):
        labels = nearest()
        centres = numpy.array([points[labels == k].mean(0) if (labels == k).any() else centre
                               for k, centre in enumerate(centres)])
    return [centres[:, 0], centres[:, 1], nearest()]


CASES = [
    Case("bfs", "Breadth-first search", "beyond",
         sizes=[10**4, 10**5, 10**6, 4 * 10**6], test_sizes=[1, 2, 10, 1000],
         make=from_busiest(random_edges(8)),
         variants={"random": from_busiest(random_edges(8)), "grid": from_corner,
                   "power-law": from_busiest(power_law_edges(16))},
         reference=levels, unit="vertices"),

    Case("connected-components", "Connected components", "beyond",
         sizes=[10**4, 10**5, 10**6, 4 * 10**6], test_sizes=[0, 1, 2, 10, 1000],
         make=edge_list(random_edges(4)),
         variants={"random": edge_list(random_edges(4)), "sparse": edge_list(random_edges(1)),
                   "grid": edge_list(grid_edges), "path": edge_list(path_edges),
                   "power-law": edge_list(power_law_edges(16))},
         reference=components, unit="vertices"),

    Case("minimum-spanning-tree", "Minimum spanning tree", "beyond",
         sizes=[10**4, 10**5, 10**6, 3 * 10**6], test_sizes=[0, 1, 2, 10, 1000],
         make=weighted(random_edges(8)),
         variants={"random": weighted(random_edges(8)), "grid": weighted(grid_edges),
                   "power-law": weighted(power_law_edges(8))},
         reference=spanning_forest, unit="vertices"),

    Case("independent-set", "Maximal independent set", "beyond",
         sizes=[10**4, 10**5, 10**6, 2 * 10**6], test_sizes=[0, 1, 2, 10, 1000],
         make=in_random_order(random_edges(8)),
         variants={"random": in_random_order(random_edges(8)), "grid": in_random_order(grid_edges),
                   "path": in_random_order(path_edges), "power-law": in_random_order(power_law_edges(16))},
         reference=independent_set, unit="vertices"),

    Case("matching", "Maximal matching", "beyond",
         sizes=[10**4, 10**5, 10**6, 2 * 10**6], test_sizes=[0, 1, 2, 10, 1000],
         make=edge_list(random_edges(8)),
         variants={"random": edge_list(random_edges(8)), "grid": edge_list(grid_edges),
                   "path": edge_list(path_edges), "power-law": edge_list(power_law_edges(16))},
         reference=matching, unit="vertices"),

    Case("tree-sums", "Sums of subtrees", "beyond",
         sizes=[10**4, 10**5, 10**6, 2 * 10**6], test_sizes=[0, 1, 2, 10, 3000],
         make=forest(bushy), variants={"bushy": forest(bushy), "lanky": forest(lanky)},
         reference=subtree_sums, unit="vertices"),

    Case("pagerank", "PageRank, 20 steps", "beyond",
         sizes=[10**4, 10**5, 10**6, 2 * 10**6], test_sizes=[1, 2, 10, 1000],
         make=web(power_law_edges(16), 20),
         reference=page_ranks, unit="pages"),

    Case("triangle-count", "Triangles of a graph", "beyond",
         sizes=[10**4, 10**5, 10**6, 2 * 10**6], test_sizes=[0, 1, 2, 10, 300],
         make=adjacency(power_law_edges(8)),
         variants={"power-law": adjacency(power_law_edges(8)),
                   "random": adjacency(random_edges(16))},
         reference=triangles, unit="vertices"),

    Case("sparse-matrix-matrix", "Sparse matrix times sparse matrix", "beyond",
         sizes=[10**3, 10**4, 10**5, 10**6], test_sizes=[0, 1, 2, 10, 300],
         make=sparse(random_edges(4)),
         variants={"random": sparse(random_edges(4)), "grid": sparse(grid_edges),
                   "power-law": sparse(power_law_edges(4, 0.4))},
         reference=product, unit="rows"),

    Case("k-means", "k-means, 16 centres, 10 steps", "beyond",
         sizes=[10**4, 10**5, 10**6, 4 * 10**6], test_sizes=[0, 1, 2, 100, 1000],
         make=clusters(16, 10),
         reference=lloyd, unit="points"),
]
