// quicksort-library.cu - the fastest sort there is, CUB's radix sort, as radix-sort.cu calls
// it.
#include "radix-sort.cu"
