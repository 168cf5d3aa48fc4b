"""What tests that only compare have in common: counted checks."""


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED: {what}")

    def status(self):
        """Prints the counts; the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
