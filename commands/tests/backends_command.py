"""Back ends that vinterp opens at run time, from outside: found, listed, chosen, refused.

usage: backends_command.py VINTERP VINTERP-TESTS PLUGIN PLUGIN-WITHOUT-ENTRY CONFORMANCE
           [unittest options]
"""

import json
import os
import shutil
import subprocess
import sys
import unittest

import vinterp_command
from vinterp_command import SUM, CommandTest

VINTERP = VINTERP_TESTS = PLUGIN = WITHOUT_ENTRY = CONFORMANCE = None
NO_PAPER = "there is no paper: buy some"
REMEDY = "  --devices lists what there is; --backend cpu needs nothing else\n"


class Backends(CommandTest):
    """The command is a copy in a folder of its own, so that no built module is found."""

    def setUp(self):
        super().setUp()
        for folder in ("bin", "lib/ravel", "given"):
            os.makedirs(self.path(folder))
        vinterp_command.VINTERP = self.path("bin/vinterp")
        shutil.copy(VINTERP, vinterp_command.VINTERP)
        self.program(SUM)

    def module(self, file, folder="given", source=None):
        shutil.copy(source or PLUGIN, os.path.join(self.path(folder), file))

    def run_with(self, *arguments, plugin="", given="given"):
        """vinterp with RAVEL_BACKENDS and a test plug-in, whose behaviour `plugin` selects."""
        environment = dict(os.environ, RAVEL_TEST_PLUGIN=plugin)
        environment.pop("RAVEL_BACKENDS", None)
        if given is not None:
            environment["RAVEL_BACKENDS"] = self.path(given) if given else ""
        return self.vinterp(*arguments, env=environment)

    def ran(self, result, out="( 6 )\n"):
        self.assertEqual((result.status, result.out, result.err), (0, out, ""))

    def ran_on(self, backend, *arguments, **more):
        result = self.run_with("prog.vcode", "--profile", "--json", *arguments, **more)
        self.assertEqual((result.status, result.out), (0, "( 6 )\n"), result.err)
        self.assertEqual(json.loads(result.err)["backend"], backend)

    def refused(self, message, *arguments, remedy=REMEDY, **more):
        result = self.run_with("prog.vcode", *arguments, **more)
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertEqual(result.err, f"vinterp: error: {message}\n{remedy}")


class Found(Backends):
    def test_given_folder(self):
        self.module("cvl-paper.so")
        self.ran_on("paper", "--backend", "paper")

    def test_beside_the_program(self):
        self.module("cvl-paper.so", "lib/ravel")
        self.ran_on("paper", "--backend", "paper")
        self.ran_on("paper", "--backend", "paper", given="")
        self.ran_on("paper", "--backend", "paper", given=None)
        self.ran_on("paper", "--backend", "paper", given="nowhere")

    def test_given_folder_comes_first(self):
        self.module("cvl-paper.so", "lib/ravel")
        self.module("cvl-paper.so", "given", WITHOUT_ENTRY)
        self.refused(f"the back end paper cannot be had: {self.path('given')}/cvl-paper.so is no "
                     "back end: it lacks ravel_backend", "--backend", "paper")

    def test_auto_takes_cuda_first(self):
        self.ran_on("cpu")
        self.module("cvl-cuda.so")
        self.ran_on("paper")
        self.ran_on("paper", "--backend", "auto")
        self.ran_on("paper", "--backend", "cuda")
        self.ran_on("cpu", "--backend", "cpu")

    def test_auto_takes_no_other_module(self):
        self.module("cvl-paper.so")
        self.ran_on("cpu")

    def test_device(self):
        self.module("cvl-paper.so")
        self.ran_on("paper", "--backend", "paper", "--device", "1")
        self.refused("the back end paper cannot be had: there are two sheets",
                     "--backend", "paper", "--device", "2")
        self.refused("the back end cpu cannot be had: the processors of this machine are one "
                     "device, number 0", "--backend", "cpu", "--device", "1",
                     remedy="  --devices lists what there is\n")

    def test_not_opened_without_need(self):
        os.mkfifo(self.path("given/cvl-cuda.so"))  # whoever opens it waits for ever
        for arguments in (["--help"], ["--version"], ["--check", "prog.vcode"],
                          ["--dump", "prog.vcode"], ["--backend", "cpu", "prog.vcode"]):
            self.assertEqual(self.run_with(*arguments).status, 0, arguments)


class Refused(Backends):
    def both(self, message, **more):
        """Asked for by name it is an error; auto runs without it and says nothing."""
        self.refused("the back end cuda cannot be had: " + message, "--backend", "cuda", **more)
        self.ran(self.run_with("prog.vcode", **more))
        self.ran_on("cpu", "--backend=auto", **more)
        listed = self.run_with("--devices", **more)
        self.assertEqual((listed.status, listed.err), (0, ""))
        self.assertIn("  not to be had: " + message + "\n", listed.out)

    def file(self):
        return self.path("given/cvl-cuda.so")

    def test_missing_file(self):
        there, beside = self.path("given"), self.path("lib/ravel")
        self.both(f"there is no cvl-cuda.so in {there} or {beside}")
        self.both(f"there is no cvl-cuda.so in {beside}", given=None)

    def test_no_library(self):
        with open(self.file(), "w") as file:
            file.write("a text, and not a short one: " * 20)
        self.both(f"it cannot be loaded: {self.file()}: invalid ELF header")

    def test_missing_symbol(self):
        self.module("cvl-cuda.so", source=WITHOUT_ENTRY)
        self.both(f"{self.file()} is no back end: it lacks ravel_backend")

    def test_wrong_version(self):
        self.module("cvl-cuda.so")
        for plugin in ("null", "old"):
            self.both(f"{self.file()} is for another version of Ravel: build both from the same "
                      "source", plugin=plugin)

    def test_auto_says_why_a_device_is_not_used(self):
        self.module("cvl-cuda.so")
        result = self.run_with("prog.vcode", plugin="torn")
        self.assertEqual((result.status, result.out, result.err), (
            0, "( 6 )\n", "ravel: there is a GPU that is not used: the back end paper cannot be had: it is torn;"
            " take another one (--backend cpu does not ask)\n"))
        self.ran(self.run_with("prog.vcode", "--backend", "cpu", plugin="torn"))

    def test_open_fails(self):
        self.module("cvl-cuda.so")
        self.refused("the back end paper cannot be had: " + NO_PAPER, "--backend", "cuda",
                     plugin="refuse")
        self.ran(self.run_with("prog.vcode", plugin="refuse"))
        self.ran_on("cpu", plugin="refuse")

    def test_auto_reports_all_if_all_fail(self):
        self.module("cvl-cuda.so")
        result = self.run_with("prog.vcode", "--device", "2")
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertEqual(result.err, "vinterp: error: the back end paper cannot be had: there are "
                         "two sheets\nvinterp: error: the back end cpu cannot be had: the "
                         "processors of this machine are one device, number 0\n" + REMEDY)

    def test_names(self):
        self.module("cvl-paper.so")
        for name in ("pencil", "", "../given/cvl-paper", "given/paper", "paper.so", "a" * 100, "paper:pencil",
                     "pencil:paper", "cpu:paper", "paper:paper", "paper:", ":paper"):
            result = self.run_with("prog.vcode", "--backend=" + name)
            self.one_line(result, 2, "there is no back end '" + name[:40] + "'; vinterp --devices")


    def test_over_another(self):
        self.module("cvl-paper.so")
        self.refused(f"the back end paper:cpu cannot be had: {self.path('given')}/cvl-paper.so has no vectors of"
                     " other back ends: it lacks ravel_backend_over", "--backend", "paper:cpu")


class Listed(Backends):
    def test_devices(self):
        self.module("cvl-paper.so")
        self.module("cvl-paper.so", "lib/ravel")  # the same name again
        self.module("cvl-a_1-b.so", source=WITHOUT_ENTRY)
        self.module("cvl-.so")
        self.module("cvl-a b.so")
        self.module("libpaper.so")
        self.module("cvl-cuda.so", "lib/ravel")
        lines = self.run_with("--devices").out.splitlines()[:-1]
        sheets = ["  0: a white sheet, 1 processor, 3.0 GiB", "  1: a grey sheet, 132 processors"]
        self.assertEqual(lines[:4], ["cuda: for tests: by hand", *sheets,
                                     "cpu: all cores of this machine"])
        self.assertRegex(lines[4], r"^  0: .+, \d+ processors?, .+$")
        self.assertEqual(lines[5], "a_1-b: a module")
        self.assertRegex(lines[6], r"^  not to be had: .*/cvl-a_1-b\.so is no back end: ")
        self.assertEqual(lines[7:], ["paper: for tests: by hand", *sheets])

    def test_affinity(self):
        """Processors are those that the process may run on."""
        before = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {max(before)})
        self.assertRegex(self.run_with("--devices").out, r"\n  0: .+, 1 processor, ")

    def test_unusable(self):
        self.module("cvl-paper.so")
        lines = self.run_with("--devices", plugin="torn").out.splitlines()
        self.assertEqual(lines[-4:-1], ["paper: for tests: by hand", "  0: a white sheet, 1 processor, 3.0 GiB;"
                                      " not to be had: it is torn; take another one", "  1: a grey sheet,"
                                      " 132 processors; not to be had: it is torn; take another one"])

    def test_no_device(self):
        self.module("cvl-paper.so")
        lines = self.run_with("--devices", plugin="refuse").out.splitlines()
        self.assertEqual(lines[-3:-1], ["paper: for tests: by hand", "  not to be had: " + NO_PAPER])


class Counted(Backends):
    def setUp(self):
        super().setUp()
        self.module("cvl-paper.so")

    def test_profile(self):
        result = self.run_with("prog.vcode", "--backend=paper", "--profile")
        self.assertEqual((result.status, result.out), (0, "( 6 )\n"))
        self.assertIn("back end paper: launches 17, waits 4; bytes up 2.0 KiB, down 3.0 MiB, "
                      "held 5.0 MiB\n"
                      "in kernels 0.001500 s, launching 0.000002 s, waiting 2.000000 s\n",
                      result.err)
        self.assertIn("instructions 1, work 5, steps 2\n", result.err)
        self.assertNotIn("launches", self.run_with("prog.vcode", "--profile").err)

    def test_profile_of_the_device_only(self):
        result = self.run_with("prog.vcode", "--backend=paper", "--profile=device")
        self.assertEqual((result.status, result.out), (0, "( 6 )\n"))
        self.assertRegex(result.err, r"^elapsed \d\.\d+ s; peak memory .*\nback end paper: .*\n"
                                     r"in kernels .*\n$")

    def test_profile_of_the_device_waits_for_no_instruction(self):
        self.program("FUNC MAIN\nCONST INT (1 2 3)\n" + "CONST INT (4 5 6)\n+ INT\n" * 40 + "RET\n")
        vinterp_command.VINTERP = VINTERP_TESTS
        waits = []
        for how in ("--profile", "--profile=device"):
            result = self.run_with("prog.vcode", "--backend=delayed", how, "--json")
            self.assertEqual(result.out, "( 161 202 243 )\n")
            waits.append(json.loads(result.err)["waits"])
        self.assertGreater(waits[0], 10)
        self.assertLess(waits[1], 3)

    def test_profile_as_json(self):
        keys = {"backend": "paper", "launches": 17, "waits": 4, "bytes_up": 2048,
                "bytes_down": 3 << 20, "held_bytes": 5 << 20, "kernel_seconds": 0.0015,
                "launch_seconds": 2e-6, "wait_seconds": 2.0}
        for how, instructions in (("--profile", True), ("--profile=device", False)):
            result = self.run_with("prog.vcode", "--backend=paper", how, "--json")
            profile = json.loads(result.err)
            self.assertEqual({key: profile[key] for key in keys}, keys)
            for key in ("instructions", "work", "opcodes", "functions"):
                self.assertEqual(key in profile, instructions)
        profile = json.loads(self.run_with("prog.vcode", "--profile", "--json").err)
        self.assertEqual([profile[key] for key in ("backend", "launches", "wait_seconds")],
                         ["cpu", 0, 0])

    def test_wrong_uses(self):
        self.one_line(self.run_with("prog.vcode", "--profile=all"), 2, "=device", "'all'")
        self.one_line(self.run_with("prog.vcode", "--profile=device", "--trace", "t"), 2,
                      "--trace", "--profile=device")


class Late(Backends):
    """The device of auto is opened when that is worth it. The emulated one is the module cuda here."""

    SQUARES_TO = "FUNC MAIN\nCONST INT 0\nCONST INT 1\nCONST INT %d\nMAKE_SEGDES\nINDEX\nCOPY 1 0\n* INT\n" \
        "CONST INT %d\nMAKE_SEGDES\n+_REDUCE INT\nRET\n"

    def setUp(self):
        super().setUp()
        emulated = os.path.join(os.path.dirname(VINTERP), "../lib/ravel-tests/cvl-cuda-emu.so")
        if not os.path.exists(emulated):
            self.skipTest("there is no emulated GPU")
        self.module("cvl-cuda.so", source=emulated)

    def squares_to(self, n, *arguments, emulation="", backend="auto"):
        """The result, the launches, and what was said."""
        self.program(self.SQUARES_TO % (n, n))
        environment = dict(os.environ, RAVEL_BACKENDS=self.path("given"), RAVEL_EMULATION=emulation)
        result = self.vinterp("prog.vcode", "--backend", backend, "--profile=device", "--json", *arguments,
                              env=environment)
        want = (n * (n - 1) * (2 * n - 1) // 6 + 2**63) % 2**64 - 2**63  # ints wrap around
        self.assertEqual((result.status, result.out), (0, f"( {want} )\n"), result.err)
        said, brace, profile = result.err.partition("{")
        said, profile = said.splitlines(), json.loads(brace + profile)
        self.assertEqual(profile["backend"], "cuda-emu")
        return profile["launches"], said

    def test_not_for_small_programs(self):
        self.assertEqual(self.squares_to(100000, emulation="fail=1"), (0, []))
        self.assertGreater(self.squares_to(100000, backend="cuda")[0], 0)

    def test_for_large_ones(self):
        launches, said = self.squares_to(5000000)
        self.assertGreater(launches, 0)
        self.assertEqual(said, [])

    def test_for_who_waits_for_kernels(self):
        self.assertGreater(self.squares_to(100000, "--native=wait")[0], 0)

    def test_as_tuned(self):
        with open(self.path("t.tuning"), "w") as file:
            file.write("cuda.open-elements 64K\n")
        self.assertGreater(self.squares_to(100000, "--tuning", self.path("t.tuning"))[0], 0)

    def test_says_why_it_is_not_used(self):
        launches, said = self.squares_to(5000000, emulation="fail=1")
        self.assertEqual((launches, len(said)), (0, 1))
        self.assertRegex(said[0], r"^ravel: the GPU is not used: .*made to fail, call 1; one thread computes")


class Lost(Backends):
    def test_a_device_that_is_lost_ends_the_program(self):
        """At any of its first calls; nothing waits for it for ever."""
        vinterp_command.VINTERP = VINTERP_TESTS
        self.program("FUNC MAIN\nCONST INT 0\nCONST INT 1\nCONST INT 100000\nMAKE_SEGDES\n"
                     "INDEX\nCONST INT 100000\nMAKE_SEGDES\n+_REDUCE INT\nRET\n")
        if "cuda-emu" not in self.vinterp("--devices").out:
            self.skipTest("there is no emulated GPU")
        lost = 0
        for call in range(1, 20):
            environment = dict(os.environ, RAVEL_EMULATION=f"fail={call}")
            result = self.vinterp("prog.vcode", "--backend", "cuda-emu", env=environment)
            if result.status:
                self.assertEqual((result.status, result.out), (1, ""))
                self.assertIn("error: ", result.err)
                lost += 1
            else:
                self.assertEqual(result.out, "( 4999950000 )\n")
        self.assertGreater(lost, 2)


class Suite(Backends):
    """The conformance suite opens the same modules."""

    def conformance(self, backend, plugin=""):
        environment = dict(os.environ, RAVEL_TEST_PLUGIN=plugin,
                           RAVEL_BACKENDS=self.path("given"))
        return subprocess.run([CONFORMANCE, "--backend", backend, "--only", "LENGTHS"],
                              capture_output=True, text=True, env=environment, check=False)

    def test_a_module(self):
        self.module("cvl-paper.so")
        run = self.conformance("paper")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"conformance: paper, .* \d{3,} cases, 0 failures\n$")

    def test_none_to_be_had(self):
        self.module("cvl-paper.so")
        for backend, plugin, why in (("paper", "refuse", NO_PAPER),
                                     ("silk", "", f"there is no cvl-silk.so in {self.path('given')}")):
            run = self.conformance(backend, plugin)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"the back end {backend} cannot be had: {why}", run.stderr)


if __name__ == "__main__":
    VINTERP, VINTERP_TESTS, PLUGIN, WITHOUT_ENTRY, CONFORMANCE = (
        os.path.abspath(sys.argv.pop(1)) for _ in range(5))
    unittest.main()
