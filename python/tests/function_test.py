"""What tests of translated functions share."""

import unittest

import ravel as rv


def value(result):
    """A result as Python's lists and tuples; a tuple ends in the items of its last item."""
    if isinstance(result, rv.Array):
        return value(result.to_list())
    if isinstance(result, list):
        return [value(each) for each in result]
    if isinstance(result, tuple):
        items = tuple(value(each) for each in result)
        return items[:-1] + items[-1] if isinstance(items[-1], tuple) else items
    return result


class FunctionTest(unittest.TestCase):
    def same(self, function, *arguments):
        """Ravel's result of a function of Python is Python's."""
        translated = rv.function(function)
        self.assertEqual(value(translated(*arguments)), value(function(*arguments)))

    def all_same(self, function, *rows):
        for arguments in rows:
            self.same(function, *arguments)
