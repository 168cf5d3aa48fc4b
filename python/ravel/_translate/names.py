"""Names of NESL for the variables and functions of Python."""

from __future__ import annotations

import re
from typing import Dict, Set

from .types import Type

# The words of the language and the names of its library: a variable of this name would hide
# what the translation calls. docs/nesl-library.md lists them; a test compares.
WORDS = frozenset("""
    abs acos all and and_scan any append append_string_to_file apropos arguments argmax argmin argsort asin atan
    atan2 bin bincount bit_length bool_string bottop btoi cartesian cbrt ceil char_code char_rank
    char_string choice chunks clamp clear_bit clip close_check close_file closure code_char collect
    combinations combine cond_put cons constant cos cosh count counts create_table csv_names cumprod
    cumsum datatype defconfig describe diff differences digitp display dist drop drop_while dump edit
    else elt ends_with enumerate eql error even_elts evenp evens exit exp exp_string expm1 exponential
    expt f fast_create_table find find_all first flag_merge flag_partition flatten flip_bit float
    float_num float_string float_to_any floor fma format_exp format_float format_int fseq function gcd
    get get_environment_variable grep group_by group_by_key group_by_separator_flags group_by_space hash
    head_rest help histogram histogram2 hypot identity if ilv image_svg image_to in index infinity
    inner_join insert_table int_collect int_string int_to_any interleave intersection iseq isfinite isin
    isinf isnan isqrt it join join_with justify_text kth_smallest lcm leading_zeros left_join length
    length_from_flags let linify linspace lisp ln load log log1p lower lowercase lshift make_table map
    mark_duplicates matrix_by_column matrix_by_row matrix_column matrix_diagonal matrix_dist
    matrix_dist_column matrix_dist_row matrix_element matrix_elements matrix_fold_columns
    matrix_fold_rows matrix_from matrix_identity matrix_map matrix_map_columns matrix_map_rows
    matrix_multiply matrix_outer matrix_reshape matrix_row matrix_rows matrix_shape matrix_slice
    matrix_tabulate matrix_times_vector matrix_transpose matrix_zip matrix_zip_with max max_index
    max_int max_scan max_val mean median min min_index min_int min_scan min_val minusp mirror mod mode
    mult_scan name nan nand negate nesl_path newline next nonzero nor normal not nullstr odd_elts oddp
    odds one open_append_file open_check open_in_file open_out_file or or_scan pack pack_index pad pair
    pairs pairwise parity parse_float parse_int parse_int_vect parse_unsigned_int partition partition_by
    permutation permute pi plot plot_bars plot_image plot_lines plot_svg plot_to plus_scan plusp
    popcount previous print print_char print_debug print_line print_string printl product prompt put
    quantile rand rand_seed rank rank_down read read_char read_check read_csv read_float_seq
    read_float_seq_from_file read_int_seq read_int_seq_from_file read_line read_npy read_npz read_object
    read_object_from_file read_string read_string_from_file read_word reciprocal reduce rem
    remove_duplicates rep replace rest rest_tail reverse riffle rotate round rshift sample scan
    scan_back scan_inclusive search_for_subseqs search_table searchsorted searchsorted_right select set
    set_bit set_difference shell shell_command show shuffle sin sinh snoc sort sort_by space spawn split
    split_at split_index split_on sqrt starts_with std stderr stdin stdout stencil stencil2 string
    string_eql subseq sum symmetric t tab table_entries take take_while tan tanh test_bit then time
    top_k trailing_zeros transpose trim trunc two uniform union unique unpack unriffle unzip unzip3
    upper uppercase urshift user variance vpair vsep where windows windows2 wordify wrap write
    write_char write_check write_csv write_npy write_npz write_object write_object_to_file write_string
    write_string_to_file xor xor_scan zero zerop zip zip3""".split())


def plain(name: str) -> str:
    """A name of Python as NESL can write it; several may become the same."""
    text = re.sub(r"[^a-z0-9_]", "", name.lower()).strip("_") or "v"
    return text if text[0].isalpha() and not text.startswith("py_") else "v" + text


class Names:
    """The variables of one function of Python; no name stands for two of them."""

    def __init__(self) -> None:
        self.types: Dict[str, Type] = {}
        self._numbers: Dict[str, int] = {}

    def fresh(self, name: str, type_: Type) -> str:
        base = plain(name)
        number = self._numbers.get(base, 1 if base in WORDS else 0) + 1
        self._numbers[base] = number
        text = base if number == 1 else f"{base}_{number}"
        if text in self.types:
            return self.fresh(name, type_)
        self.types[text] = type_
        return text

    def known(self) -> Set[str]:
        return set(self.types)


IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
