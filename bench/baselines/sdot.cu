// sdot.cu - cuBLAS's dot product, as dot-product.cu calls it, of the width of `real`.
#include "dot-product.cu"
