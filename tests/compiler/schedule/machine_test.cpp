// The file of measured costs: read, written, found, refused.
#include "schedule/machine.h"

#include <doctest/doctest.h>
#include <error_text.h>
#include <variable.h>

using namespace weft;

namespace {

std::string refusal(const std::string& text) { return error_text([&] { parse_machine(text, "dir/machine"); }); }

const std::string names =
    "first_level_bytes, first_level_ways, second_level_bytes, second_level_read, second_level_write, third_level_bytes, third_level_read, third_level_write, memory_read, memory_write, gather, square_root, quotient, vector_ps, "
    "wake_ns, stream_bytes, shared_stream_bytes, fetch_bytes, blocks_in_memory, row_bytes_ahead, tile_block, tile_fetch_bytes";
const std::string remedy = "\n  mend the line, or measure again with: weft calibrate --write";

}  // namespace

TEST_CASE("a file of measured costs says what it names; the rest are the defaults, as they are without a file") {
  CHECK(parse_machine("", "f") == Machine());
  CHECK(parse_machine("# nothing\n\n   # more of it\n", "f") == Machine());
  Machine machine;
  machine.gather = 12.5;
  machine.wake_ns = 8e3;
  CHECK(read_machine("") == Machine());
  CHECK(read_machine("no folder/no file") == Machine());
  CHECK(parse_machine("# of a slow machine\ngather 12.5\n  wake_ns\t8e3 # late\n", "f") == machine);
}

TEST_CASE("tests have the machine they were written for, whatever they run on") {
  CHECK(this_machine().first_level_ways == 8);
  CHECK(this_machine().fetch_bytes == 24 << 20);
}

TEST_CASE("calls keep in the caches what the machine says, a third less or more where a third or two thirds of it are results") {
  Machine machine;
  machine.stream_bytes = 3000;
  machine.shared_stream_bytes = 6000;
  CHECK(machine.bytes_within_caches(100, 50, 1) == 3000);
  CHECK(machine.bytes_within_caches(100, 50, 2) == 6000);
  CHECK(machine.bytes_within_caches(99, 33, 1) == 2000);
  CHECK(machine.bytes_within_caches(99, 66, 16) == 8000);
  CHECK(machine.bytes_within_caches(100, 0, 1) == 2000);
  CHECK(machine.bytes_within_caches(100, 100, 1) == 4000);
  CHECK(machine.bytes_within_caches(0, 0, 1) == 3000);
}

TEST_CASE("what is written is read again, to the last digit") {
  Machine machine;
  machine.memory_read = 1.0 / 3;
  machine.third_level_bytes = 12345678;
  machine.stream_bytes = 1e15;
  CHECK(parse_machine(to_text(machine), "f") == machine);
  CHECK(to_text(Machine()).find("gather 8                          # an element of a gather, in elements of a contiguous load\n") != std::string::npos);
}

TEST_CASE("a bad file is refused with its name, the line, what is expected there, and a remedy") {
  CHECK(refusal("gather 8\nfetch 9\n") == "usage: dir/machine:2: expected one of " + names + ", got fetch" + remedy);
  for (const char* line : {"gather", "gather many", "gather 0", "gather -3", "gather 8 9", "gather nan", "gather inf", "gather 8,5", "gather 1e16"})
    CHECK(refusal(std::string("# costs\n\n") + line) == "usage: dir/machine:3: expected gather and a number above 0, at most 1e15, got " + std::string(line) + remedy);
}

TEST_CASE("the file is the one that is named, else where configurations are, else at home, else nowhere") {
  const Variable home("HOME", "/home/one"), none("XDG_CONFIG_HOME", nullptr), unnamed("WEFT_MACHINE", nullptr);
  CHECK(machine_file() == "/home/one/.config/weft/machine");
  {
    const Variable folder("XDG_CONFIG_HOME", "/settings");
    CHECK(machine_file() == "/settings/weft/machine");
    const Variable named("WEFT_MACHINE", "named/costs");
    CHECK(machine_file() == "named/costs");
    const Variable nothing("WEFT_MACHINE", "");
    CHECK(machine_file().empty());
  }
  const Variable homeless("HOME", nullptr);
  CHECK(machine_file().empty());
}
