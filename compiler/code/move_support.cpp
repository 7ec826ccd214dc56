#include "move_support.h"

#include <cstring>

namespace weft {

// Pieces of powers of two bytes, the largest first: none lies in two registers that were stored one after the other, which reads would wait for.
void move_part(char* to, const char* from, Index bytes) {
  const auto move = [&](Index piece) {
    std::memcpy(to, from, static_cast<std::size_t>(piece));
    to += piece, from += piece;
  };
  for (; bytes >= 16; bytes -= 16) move(16);
  if (bytes & 8) move(8);
  if (bytes & 4) move(4);
  if (bytes & 2) move(2);
  if (bytes & 1) move(1);
}

}  // namespace weft
