#!/usr/bin/env python3
"""Tests of scripts/source_files.py: the same files with git and without."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from source_files import ROOT, source_files

SOURCES = ["a/CMakeLists.txt", "a/build/kept.c", "a/x.c", "scripts/build"]
BESIDES = ["a/__pycache__/x.pyc", "a/x.o", "build/y.c", "build-debug/y.c"]


class SourceFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in SOURCES + BESIDES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("")
        shutil.copy(ROOT / ".gitignore", self.root)

    def test_without_git(self):
        self.assertEqual(source_files(root=self.root), [".gitignore", *SOURCES])
        self.assertEqual(source_files("a", "scripts/build", root=self.root), SOURCES)
        self.assertEqual(source_files("a/*.[ch]", root=self.root), ["a/build/kept.c", "a/x.c"])
        self.assertEqual(source_files("none", "build", root=self.root), [])

    def test_a_clone_around_it_is_not_asked(self):
        inner = self.root / "a"
        if shutil.which("git"):
            subprocess.run(["git", "init", "-q", self.root], check=True)
        self.assertEqual(source_files(root=inner),
                         ["CMakeLists.txt", "__pycache__/x.pyc", "build/kept.c", "x.c", "x.o"])

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_with_git_the_same(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.assertEqual(source_files(root=self.root), [".gitignore", *SOURCES])
        self.assertEqual(source_files(root=self.root, untracked=False), [])
        subprocess.run(["git", "add", "a/x.c"], cwd=self.root, check=True)
        self.assertEqual(source_files(root=self.root, untracked=False), ["a/x.c"])
        self.assertEqual(source_files("a", root=self.root), SOURCES[:3])
        self.assertEqual(source_files("a/*.[ch]", root=self.root), ["a/build/kept.c", "a/x.c"])

    def test_a_broken_clone_is_walked(self):
        (self.root / ".git").write_text("gitdir: nowhere\n")
        self.assertEqual(source_files(root=self.root), [".gitignore", *SOURCES])

    @unittest.skipUnless((ROOT / ".git").exists() and shutil.which("git"), "no clone")
    def test_this_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            for name in source_files():
                if (ROOT / name).exists():
                    (copy / name).parent.mkdir(parents=True, exist_ok=True)
                    (copy / name).write_text("")
            (copy / ".gitignore").write_text((ROOT / ".gitignore").read_text())
            self.assertEqual(source_files(root=copy), [n for n in source_files() if (ROOT / n).exists()])


if __name__ == "__main__":
    unittest.main()
