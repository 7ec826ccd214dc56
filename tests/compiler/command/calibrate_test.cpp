// Measuring the machine. Numbers depend on what else it does: only what holds on any machine is checked.
#include "command/calibrate.h"

#include <chrono>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <error_text.h>
#include <variable.h>

using namespace weft;

TEST_CASE("calibrate measures a machine whose memory is the dearer the farther, and writes what is read again") {
  const auto path = std::filesystem::temp_directory_path() / "weft_calibrate_test" / "machine";
  std::filesystem::remove_all(path.parent_path());
  std::ostringstream out;
  const auto start = std::chrono::steady_clock::now();
  {
    const Variable named("WEFT_MACHINE", path.c_str());
    calibrate(true, out);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(out.str() == text.str() + "# written to " + path.string() + "\n");
  const Machine machine = parse_machine(text.str(), path.string());
  CHECK(machine.second_level_read <= machine.third_level_read);
  CHECK(machine.third_level_read <= machine.memory_read);
  CHECK(machine.second_level_write <= machine.third_level_write);
  CHECK(machine.third_level_write <= machine.memory_write);
  CHECK(machine.second_level_bytes < machine.third_level_bytes);
  CHECK(machine.stream_bytes >= machine.second_level_bytes / 4);
  CHECK(machine.shared_stream_bytes >= machine.stream_bytes);
  CHECK(machine.fetch_bytes >= 2 * machine.second_level_bytes);
  CHECK((machine.blocks_in_memory == least_along_root || machine.blocks_in_memory == one_by_one));
  CHECK((machine.row_bytes_ahead == next_row || machine.row_bytes_ahead == after_next_row));
  CHECK((machine.tile_block == short_tile_block || machine.tile_block == long_tile_block));
  CHECK((machine.tile_fetch_bytes == 1 || machine.tile_fetch_bytes >= 4 * 800 * 800));
  CHECK(machine.gather >= 1);
  CHECK(machine.wake_ns > 0);
  std::filesystem::remove_all(path.parent_path());
}

TEST_CASE("where there is no place for the file calibrate says so, before it measures") {
  const Variable nowhere("WEFT_MACHINE", "");
  std::ostringstream out;
  CHECK(error_text([&] { calibrate(true, out); }) == "usage: weft calibrate --write: there is no place for the file\n  set WEFT_MACHINE to a path");
  CHECK(out.str().empty());
}
