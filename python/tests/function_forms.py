"""The expressions of random functions (function_programs.py), as data.

`<T>` stands for an expression of type T, `<=T>` for a new variable, `<.T>` for one that has
been bound, `<!T>` for an expression that does not see those; `<lt>`, `<le>` and `<shl>` are
operators.
"""

# What a `for` runs over, and the types of its variables.
LOOPS = [
    ("<[int]>[:4]", "int"),
    ("<[float]>[:4]", "float"),
    ("<str>[:3]", "str"),
    ("<[[int]]>[-2:]", "[int]"),
    ("enumerate(<[float]>[:3])", "int", "float"),
    ("zip(<[int]>, <[float]>)", "int", "float"),
    ("<[(int, float)]>[:3]", "int", "float"),
    ("(<int>, <int>)", "int"),
    ("reversed(<[int]>[:3])", "int"),
]

FORMS = {
    "int": [
        "(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "(<int> // <int>)",
        "(<int> % <int>)", "(-<int>)", "abs(<int>)", "len(<[int]>)", "len(<str>)",
        "<[int]>[<int>]", "<[int]>[0]", "<[int]>[-1]", "sum(<[int]>)", "min(<[int]>)",
        "max(<[int]>, default=<int>)", "min(<int>, <int>, <int>)", "max(<int>, <int>)",
        "int(<float>)", "round(<float>)", "math.floor(<float>)", "math.ceil(<float>)",
        "<(int, float)>[0]", "(<bool> + <int>)", "(<int> & <int>)", "(<int> | <int>)",
        "(<int> ^ <int>)", "(~<int>)", "(<int> >> 2)", "(<int> <shl> 3)", "(<int> ** 2)",
        "(<int> or <int>)", "(<int> and <int>)", "ord(<str>)",
        "sum(<bool> for <=int> in <![int]>)", "divmod(<int>, <int>)[1]",
        "math.gcd(<int>, <int>)", "sum(<int> for <=int> in <![int]> if <bool>)",
        "math.prod(<[int]>)", "len(<[[int]]>)", "max(<[int]>, key=lambda <=int>: <int>)",
        "(<int> ** (<int> % 4))",
    ],
    "float": [
        "(<float> + <float>)", "(<float> - <float>)", "(<float> * <float>)",
        "(<float> / <float>)", "(<int> / <int>)", "(<float> // <float>)", "(<float> % <float>)",
        "(-<float>)", "abs(<float>)", "float(<int>)", "(<int> * <float>)", "(<float> - <int>)",
        "<[float]>[<int>]", "max(<[float]>)", "min(<float>, <float>)", "<(int, float)>[1]",
        "(<float> if <bool> else <int>)", "math.sqrt(abs(<float>))", "math.fabs(<float>)",
        "math.fmod(<float>, <float>)", "float(np.floor(<float>))",
    ],
    "real": [
        "(<real> + <real>)", "(<real> * <float>)", "sum(<[float]>)", "math.sin(<float>)",
        "math.exp(min(<float>, 20.0))", "math.log(abs(<float>) + 1.0)",
        "(abs(<float>) ** <float>)", "math.atan2(0.0 + <float>, 0.0 + <float>)",
        "math.hypot(<float>, <float>)", "float(np.tanh(<float>))", "(<float> ** 3)",
        "(<float> ** 2)", "math.log10(abs(<int>) + 1)",
    ],
    "bool": [
        "(<int> <lt> <int>)", "(<int> == <int>)", "(<int> != <int>)", "(<float> <le> <float>)",
        "(<float> > <int>)", "(not <bool>)", "(<bool> and <bool>)", "(<bool> or <bool>)",
        "(<int> <lt> <int> <le> <int>)", "(<int> in <[int]>)", "(<str> == <str>)",
        "(<str> <lt> <str>)", "(<[int]> == <[int]>)", "(<[int]> <lt> <[int]>)",
        "((<int>, <float>) <lt> <(int, float)>)", "bool(<[int]>)", "bool(<float>)",
        "any(<bool> for <=int> in <![int]>)", "(<str> in <str>)",
        "all([<int> > <int> for <=int> in <![int]>])", "(<bool> == <bool>)",
        "(<bool> <lt> <bool>)", "math.isfinite(<float>)", "(<int> not in (<int>, <int>))",
    ],
    "str": [
        "(<str> + <str>)", "str(<int>)", "<str>[<int>]", "<str>[<int>:<int>]", "<str>[::-1]",
        "(<str> * 2)", "str(<bool>)", "(<str> or <str>)", "chr(65 + <int> % 26)",
    ],
    "[int]": [
        "(<[int]> + <[int]>)", "<[int]>[<int>:]", "<[int]>[:<int>]", "<[int]>[<int>:<int>]",
        "<[int]>[::-1]", "<[int]>[<int>:<int>:2]", "<[int]>[::-2]", "(<[int]> * 2)",
        "sorted(<[int]>)", "sorted(<[int]>, key=lambda <=int>: <int>)",
        "sorted(<[int]>, reverse=True)", "list(reversed(<[int]>))", "list(range(<int> % 5))",
        "list(range(<int> % 7, 3))", "[<int> for <=int> in <![int]>]",
        "[<int> for <=int> in <![int]> if <bool>]", "<[[int]]>[<int>]",
        "[<int> for <=[int]> in <![[int]]> for <=int> in <.[int]>]",
        "[ord(<=str>) for <.str> in <!str>]",
        "[<int> for <=int>, <=float> in <![(int, float)]>]",
        "[len(<=[int]>) for <.[int]> in <![[int]]>]",
        "[<int> for <=int>, <=float> in zip(<![int]>, <![float]>)]", "list(map(abs, <[int]>))",
        "[<int> for <=int>, <=float> in enumerate(<![float]>)]", "[<int>, <int>]",
    ],
    "[float]": [
        "[<float> for <=float> in <![float]>]", "[<float> for <=int> in <![int]> if <bool>]",
        "sorted(<[float]>)", "(<[float]> + <[float]>)", "<[float]>[<int>:]", "[<float>, <int>]",
        "[<float> / 2 for <=float> in <![float]>]",
        "[<float> for <=int>, <=float> in <![(int, float)]>]",
    ],
    "[[int]]": [
        "[<[int]> for <=int> in <![int]>]", "(<[[int]]> + <[[int]]>)", "<[[int]]>[::-1]",
        "[<[int]> for <=[int]> in <![[int]]> if <bool>]", "[<[int]>, <[int]>]",
        "<[[int]]>[<int>:]",
    ],
    "(int, float)": [
        "(<int>, <float>)", "<[(int, float)]>[<int>]", "max(<[(int, float)]>)",
        "(<int>, <int> / 2)",
    ],
    "[(int, float)]": [
        "[(<int>, <float>) for <=int> in <![int]>]", "list(zip(<[int]>, <[float]>))",
        "sorted(<[(int, float)]>)", "list(enumerate(<[float]>))",
        "[<(int, float)>, <(int, float)>]",
        "[<(int, float)> for <=int>, <=float> in <![(int, float)]> if <bool>]",
    ],
}
