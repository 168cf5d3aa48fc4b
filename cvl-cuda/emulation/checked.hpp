/* checked.hpp - pointers that the emulated device checks. */
#ifndef RAVEL_EMULATION_CHECKED_HPP
#define RAVEL_EMULATION_CHECKED_HPP
#endif
