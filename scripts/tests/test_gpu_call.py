#!/usr/bin/env python3
"""Tests of the call on a borrowed machine: what is cut off keeps what it has, and what was done is on disk."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))

from gpu_call import Call, Part, whole  # noqa: E402


def python(text):
    return [sys.executable, "-c", text]


class Calls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def call(self, seconds=60):
        made = Call(self.out, time.time() + seconds, {"commit": "abc"})
        self.addCleanup(made.log.close)
        return made

    def run_parts(self, call, *runs):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            call.run_parts([Part(f"part{k}", 1, "nothing", run) for k, run in enumerate(runs)])
        return said.getvalue()

    def written(self):
        return json.loads((self.out / "gpu-check.json").read_text())

    def test_a_step_that_is_cut_off_keeps_its_output(self):
        call = self.call()
        self.run_parts(call, lambda c, _: c.run("long", python(
            "import time; print('3 passed, 0 failed', flush=True); time.sleep(60)"), 1))
        part = self.written()["parts"]["part0"]
        self.assertEqual((part["outcome"], part["note"]), ("cut", "3 passed"))
        self.assertEqual(whole(call.parts), ["long"])

    def test_results_are_on_disk_before_the_part_ends(self):
        def steps(call, _):
            call.run("first", python("print('done')"), 5)
            found = self.written()
            self.assertEqual(found["commit"], "abc")
            self.assertEqual(found["parts"]["part0"]["steps"][0]["text"], "done\n")
            call.run("second", python("raise SystemExit(3)"), 5)
        call = self.call()
        self.assertIn("FAILED  second", self.run_parts(call, steps))
        self.assertEqual(self.written()["parts"]["part0"]["outcome"], "FAILED")

    def test_parts_share_what_is_left(self):
        shares = []
        self.run_parts(self.call(90), *[lambda _, seconds: shares.append(seconds)] * 3)
        for wanted, share in zip((30, 45, 90), shares):
            self.assertAlmostEqual(share, wanted, delta=1)

    def test_no_time(self):
        call = self.call(0)
        self.run_parts(call, lambda c, _: c.run("never", python(""), 5))
        self.assertEqual(self.written()["parts"]["part0"]["outcome"], "SKIPPED")

    def test_several_at_once(self):
        call = self.call()
        steps = [(f"s{k}", python("import os; print(os.environ['K'])"), {"K": str(k)}) for k in range(6)]
        self.run_parts(call, lambda c, seconds: c.run_all(steps, seconds))
        found = {s["name"]: s["text"] for s in self.written()["parts"]["part0"]["steps"]}
        self.assertEqual(found, {f"s{k}": f"{k}\n" for k in range(6)})


def gpu_check():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPTS / "gpu-check"))
    check = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(check)
    return check


class Carried(unittest.TestCase):
    def test_programs_are_still_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            program = here / "from" / "bin" / "program"
            program.parent.mkdir(parents=True)
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
            with tarfile.open(here / "carried.tar.xz", "w:xz") as archive:
                archive.add(here / "from", ".")
            found = gpu_check().unpacked(here / "carried.tar.xz", here / "to")
            self.assertEqual(subprocess.run([found / "bin" / "program"], check=False).returncode, 0)
            self.assertEqual(gpu_check().unpacked(here / "from", here / "to"), here / "from")

    def test_nothing_is_prepared(self):
        with self.assertRaisesRegex(SystemExit, "--prepare"):
            gpu_check().unpacked(Path("/nowhere/carried.tar.xz"), "/nowhere")


class Parts(unittest.TestCase):
    def test_the_document_lists_them(self):
        check = gpu_check()
        text = (SCRIPTS.parent / "docs" / "internals" / "cuda.md").read_text()
        self.assertIn("\n".join(f"| {p.name} | {p.seconds} | {p.decides} |" for p in check.PARTS), text)
        self.assertLessEqual(sum(p.seconds for p in check.PARTS), 9 * 60 - check.RESERVE)


if __name__ == "__main__":
    unittest.main()
