// header.cpp - ravel.h is a header of C++, too.
#include "ravel.h"

int main() {
  ravel_context_free(nullptr);
  return ravel_version()[0] == '\0';
}
