"""The list of `lab/check drops`, what it says of a mutation that nothing notices, and which runs
look for one. Needs no module."""

import argparse
import concurrent.futures
import contextlib
import io
import unittest
import unittest.mock

import coverage
import drops

LABEL = "fused_kernel#12345678"
TEXTS = ("bar.sync 0", "membar.gl", "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1", "bar.sync 0")


def program(name):
    with unittest.mock.patch.object(drops, "program_output", lambda *_, **__: "( 1 )\n"):
        return drops.Program(name)


def kernel(executed=(0, 1, 2, 3)):
    mutations = [drops.Mutation("narrow" if "shfl" in text else "drop", n, f"line {n}: {text}")
                 for n, text in enumerate(TEXTS)]
    counts = coverage.Kernel()
    counts.executed.update(dict.fromkeys(executed, 1))
    return drops.Kernel("packed fused_kernel.1", LABEL, mutations, [(program("packed"), counts, LABEL)], set())


def said_of(notices, listed, as_list=False):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        failed = drops.report(kernel(), notices, listed, argparse.Namespace(details=False, list=as_list))
    return failed, out.getvalue()


class List(unittest.TestCase):
    def test_ranges(self):
        self.assertEqual(drops.ranges_of([9, 1, 2, 3, 5]), "1-3 5 9")
        self.assertEqual(list(drops.numbers_of("1-3 5 9")), [1, 2, 3, 5, 9])

    def test_lines(self):
        listed = drops.read_survivors("# a comment\n\npacked fused_kernel.1 of 4: 1 3-4: two arrays: both\n"
                                      "packed fused_kernel.1 of 4: 2: lock\n")
        self.assertEqual(listed["packed fused_kernel.1"].of, 4)
        self.assertEqual(listed["packed fused_kernel.1"].why, {1: "two arrays: both", 3: "two arrays: both",
                                                               4: "two arrays: both", 2: "lock"})

    def test_what_is_listed_is_read_again(self):
        listed = drops.Survivors(4, {1: "two arrays"})
        lines = list(drops.lines_of(kernel(), {1, 4}, listed))
        self.assertEqual(lines, ["packed fused_kernel.1 of 4: 1: two arrays", "packed fused_kernel.1 of 4: 4: ?"])
        self.assertEqual(drops.read_survivors("\n".join(lines))["packed fused_kernel.1"].why, {1: "two arrays", 4: "?"})


class Reports(unittest.TestCase):
    def test_counts(self):
        failed, text = said_of(["packed, late", drops.SAME, "packed, late", "packed, seed=11"], None)
        self.assertEqual((failed, text), (0, "packed fused_kernel.1#12345678: noticed 2 of 3 barriers and fences,"
                                             " 1 of 1 masks; 1 are the error slot's, 0 are never executed,"
                                             " 0 are listed\n"))

    def test_what_is_listed_is_not_tried(self):
        tried = []
        with concurrent.futures.ThreadPoolExecutor(1) as pool, \
                unittest.mock.patch.object(drops, "noticed_by", lambda _, m: tried.append(m.number) or "packed, late"):
            for as_list in (False, True):
                options = argparse.Namespace(list=as_list)
                notices = drops.all_notices(kernel(), drops.Survivors(4, {2: "a reason"}), options, pool)
                self.assertEqual(notices.count(drops.LISTED), 0 if as_list else 1)
        self.assertEqual(tried, [0, 2, 3, 0, 1, 2, 3])

    def test_a_new_survivor_fails(self):
        notices = ["packed, late", "packed, seed=1,weak", drops.NOTHING, drops.NOTHING]
        failed, text = said_of(notices, drops.Survivors(4, {3: "a reason"}))
        self.assertEqual(failed, 1)
        self.assertIn("nothing notices drop=fused_kernel#12345678@3, number 4 (line 3: bar.sync 0)", text)
        self.assertEqual(said_of(notices, drops.Survivors(4, {3: "a reason", 4: "another"}))[0], 0)
        self.assertEqual(said_of(notices, None)[0], 2)

    def test_what_is_never_executed_is_listed_too(self):
        notices = ["packed, late", drops.NEVER, "packed, late", "packed, late"]
        self.assertEqual(said_of(notices, None)[0], 1)
        self.assertEqual(said_of(notices, drops.Survivors(4, {2: "dead code"}))[0], 0)

    def test_other_code_fails(self):
        failed, text = said_of([drops.NOTHING] * 4, drops.Survivors(5, {1: "", 2: "", 3: "", 4: ""}))
        self.assertEqual(failed, 1)
        self.assertIn("it has 4 barriers, fences and masks, but survivors.txt says 5", text)

    def test_a_kernel_that_there_is_not_fails(self):
        listed = {"packed fused_kernel.1": drops.Survivors(4, {}), "packed fused_kernel.2": drops.Survivors(3, {})}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(drops.report_idle([kernel()], listed, argparse.Namespace(only=None)), 1)
            self.assertEqual(drops.report_idle([kernel()], listed, argparse.Namespace(only=["packed"])), 0)
        self.assertIn("packed fused_kernel.2: survivors.txt lists it", out.getvalue())

    def test_lines_for_the_list_never_fail(self):
        failed, text = said_of([drops.NOTHING] * 4, None, as_list=True)
        self.assertEqual((failed, text.splitlines()[1]), (0, "packed fused_kernel.1 of 4: 1-4: ?"))


class Mutations(unittest.TestCase):
    def test_instructions(self):
        counts = coverage.Kernel()
        for number, text in enumerate(("add.s32 %r1, %r2, 1", "bar.sync 0", "@%p1 membar.sys",
                                       "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1", "bar.warp.sync -1")):
            counts.add(("k", str(number), "7", "1", "32", "0", "0", text))
        found = [(m.how, m.number) for m in drops.mutations_of(counts)]
        self.assertEqual(found, [("drop", 1), ("drop", 2), ("narrow", 3), ("drop", 4), ("narrow", 4)])

    def test_what_kernels_are_meant(self):
        for name, wanted, meant in (("packed", None, "fused_kernel#1"), ("sorted", None, "_ZN3cub1k"),
                                    ("ADD.INT", ["add"], "_Z3add")):
            with unittest.mock.patch.multiple(drops, program_output=lambda *_, **__: "", output_of=lambda *_: (0, "")):
                program = drops.Program(name)
            labels = ("fused_kernel#1", "_ZN3cub1k", "_Z3add")
            self.assertEqual([label for label in labels if program.has(label, wanted)], [meant])


    def test_the_same_code_is_one_kernel(self):
        counts = coverage.Kernel()
        counts.add(("k", "0", "7", "1", "32", "0", "0", "bar.sync 0"))
        found = iter(({"fused_1_kernel#ab": counts}, {"fused_2_kernel#ab": counts, "fused_3_kernel#cd": counts}))
        with unittest.mock.patch.object(drops, "executed_by", lambda *_: next(found)):
            kernels = drops.kernels_of([program("packed"), program("scanned")], None)
        self.assertEqual([(k.name, len(k.runs)) for k in kernels],
                         [("packed fused_kernel.1", 2), ("scanned fused_kernel.2", 1)])


class Slot(unittest.TestCase):
    TEXTS = ("add.s64 %rd1, %rd2, 8", "ld.volatile.global.u32 %r7, [%rd37]", "membar.gl",
             "ld.volatile.global.u32 %r8, [%rd37+4]", "ld.volatile.global.u64 %rd4, [%rd37+8]",
             "ld.volatile.global.u64 %rd5, [%rd37+16]", "membar.gl",
             "@%p1 bra L", "ld.volatile.global.u32 %r67, [%rd37]", "atom.global.cas.b32 %r69, [%rd37], %r7, %r68",
             "membar.gl", "st.volatile.global.u32 [%rd37+4], %r71", "st.volatile.global.u64 [%rd37+8], %rd2",
             "st.volatile.global.u64 [%rd37+16], %rd6", "st.volatile.global.u64 [%rd37+24], %rd7",
             "st.volatile.global.u64 [%rd37+32], %rd8", "st.volatile.global.u64 [%rd37+40], %rd9", "membar.gl",
             "st.volatile.global.u32 [%rd37], %r70", "membar.gl", "bar.sync 0")

    def fences(self, texts):
        counts = coverage.Kernel()
        counts.text = {n: f"line {n}: {text}" for n, text in enumerate(texts)}
        return drops.slot_of(counts)

    def test_its_fences(self):
        self.assertEqual(self.fences(self.TEXTS), {2, 6, 10, 17})

    def test_other_code_is_not_the_slot(self):
        for number in (2, 5, 6, 9, 10, 13, 17):
            self.assertEqual(self.fences(self.TEXTS[:number] + self.TEXTS[number + 1:]), set())
        for old, new in (("+24", "+25"), ("[%rd37+8]", "[slot]"), ("st.volatile", "st")):
            self.assertEqual(self.fences([text.replace(old, new) for text in self.TEXTS]), set())


class Runs(unittest.TestCase):
    def noticed(self, number, outputs, executed=(0, 1, 2, 3)):
        """With runs that print so, the last of them again and again: what noticed, and how many
        there were."""
        given = []

        def program_output(_, backend, said, coverage=None, seconds=None):
            given.append(said)
            return outputs[min(len(given), len(outputs)) - 1]

        mutated = kernel(executed)
        with unittest.mock.patch.object(drops, "program_output", program_output):
            return drops.noticed_by(mutated, mutated.mutations[number]), given

    def test_the_first_run_that_ends_otherwise(self):
        said, given = self.noticed(0, ["( 1 )\n", "a race\n"])
        self.assertEqual((said, len(given)), (f"packed, {drops.BY_SEEDS[1]}", 2))
        self.assertIn("drop=fused_kernel#12345678@0", given[0])

    def test_one_that_takes_too_long_has_noticed(self):
        self.assertEqual(self.noticed(0, [None])[0], "packed, late")

    def test_nothing(self):
        said, given = self.noticed(0, ["( 1 )\n"])
        self.assertEqual((said, len(given)), (drops.NOTHING, len(drops.BY_SEEDS)))

    def test_fences_under_weak_memory(self):
        _, given = self.noticed(1, ["( 1 )\n"])
        self.assertEqual(sum(",weak," in said for said in given), drops.WEAK_SEEDS)

    def test_what_is_not_executed_is_not_tried(self):
        self.assertEqual(self.noticed(3, ["a race\n"], executed=(0, 1)), (drops.NEVER, []))

    def test_the_error_slot_elsewhere(self):
        mutated = kernel()._replace(slot={1})
        with unittest.mock.patch.object(drops, "program_output", lambda *_, **__: "( 1 )\n"):
            self.assertEqual(drops.noticed_by(mutated, mutated.mutations[1]), drops.SAME)
            there = mutated._replace(runs=[(program(drops.OF_SLOT), *mutated.runs[0][1:])])
            self.assertEqual(drops.noticed_by(there, there.mutations[1]), drops.NOTHING)

    def test_a_mutation_that_there_is_not_ends_it(self):
        self.assertRaises(SystemExit, self.noticed, 0, ["cuda-ptx: RAVEL_PTX: fused_kernel has no instruction 0\n"])

