#include "machine.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <weft/error.h>
#include <weft/memory.h>

namespace weft {
namespace {

struct Key {
  const char* name;
  double Machine::*value;
  const char* purpose;
};
constexpr Key keys[] = {
    {"first_level_bytes", &Machine::first_level_bytes, "of the data cache of one processor"},
    {"first_level_ways", &Machine::first_level_ways, "of it"},
    {"second_level_bytes", &Machine::second_level_bytes, "of the cache of one processor"},
    {"second_level_read", &Machine::second_level_read, "64 bytes, in vector instructions; so are the next five"},
    {"second_level_write", &Machine::second_level_write, ""},
    {"third_level_bytes", &Machine::third_level_bytes, "arrays larger than this are in memory"},
    {"third_level_read", &Machine::third_level_read, ""},
    {"third_level_write", &Machine::third_level_write, ""},
    {"memory_read", &Machine::memory_read, ""},
    {"memory_write", &Machine::memory_write, ""},
    {"gather", &Machine::gather, "an element of a gather, in elements of a contiguous load"},
    {"square_root", &Machine::square_root, "sixteen of f32 by the processor's instruction, in vector instructions"},
    {"quotient", &Machine::quotient, "sixteen of f32, by the same unit"},
    {"vector_ps", &Machine::vector_ps, "of a vector instruction of an ordinary loop, in the first level"},
    {"wake_ns", &Machine::wake_ns, "until a thread that sleeps has begun to work, in nanoseconds"},
    {"stream_bytes", &Machine::stream_bytes, "calls on more bytes, half of them results, store these past the caches"},
    {"shared_stream_bytes", &Machine::shared_stream_bytes, "the same of calls on several threads"},
    {"fetch_bytes", &Machine::fetch_bytes, "folds of more bytes fetch ahead of their reading"},
    {"blocks_in_memory", &Machine::blocks_in_memory, "part of a row's work outside its loops from which rows in memory go in blocks"},
    {"row_bytes_ahead", &Machine::row_bytes_ahead, "how far loops over a row in memory fetch, at least"},
    {"tile_block", &Machine::tile_block, "rows that large transposes write together"},
    {"tile_fetch_bytes", &Machine::tile_fetch_bytes, "blocks of tiles fetch ahead of larger arrays"},
};

constexpr double largest = 1e15;         // bytes and picoseconds stay far from overflow

std::string names() {
  std::string list;
  for (const Key& key : keys) list += concat(list.empty() ? "" : ", ", key.name);
  return list;
}

// No number above 0 and within reason: 0.
double positive(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value > 0 && value <= largest ? value : 0;
}

// What differs between makers and families, where nothing has been measured.
struct Processor {
  double square_root, quotient, fetch_bytes, blocks_in_memory, row_bytes_ahead, tile_block = short_tile_block, tile_fetch_bytes = 1, threads_keep = 1;
};
Processor find_processor() {
  const double third_level = usual_stream_bytes();
#ifdef __x86_64__
  constexpr unsigned zen_3_and_4 = 0x19, zen_5 = 0x1a;       // of which compilers know the names later
  unsigned signature = 0, other = 0;
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel")) return {26, 20, third_level, least_along_root, next_row};
  const bool has_family = __builtin_cpu_is("amd") && __get_cpuid(1, &signature, &other, &other, &other);
  const unsigned family = has_family ? (signature >> 8 & 0xf) + (signature >> 20 & 0xff) : 0, model = (signature >> 4 & 0xf) + (signature >> 12 & 0xf0);
  if (family == zen_5) return {10, 6, 128 << 20, one_by_one, after_next_row, short_tile_block, 1 << 24};
  const bool is_zen_3 = model < 0x10 || (model >= 0x20 && model < 0x60);
  if (family == zen_3_and_4) return is_zen_3 ? Processor{10, 6, largest, least_along_root, next_row, long_tile_block} : Processor{10, 6, third_level, least_along_root, after_next_row, short_tile_block, 1, 2};
#endif
  return {10, 6, third_level, least_along_root, next_row};
}

// Asked once: a virtual machine is left for each question to the processor, and each compilation has several Machines. One took 50 us, the first call
// of axpy 2.2 ms; now 1.6.
const Processor& this_processor() {
  static const Processor processor = find_processor();
  return processor;
}

}  // namespace

double usual_vector_ps() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return 125;
  if (!__builtin_cpu_supports("avx2")) return 500;
#endif
  return 250;
}
double usual_square_root() { return this_processor().square_root; }
double usual_quotient() { return this_processor().quotient; }
double usual_fetch_bytes() { return this_processor().fetch_bytes; }
double usual_blocks_in_memory() { return this_processor().blocks_in_memory; }
double usual_row_bytes_ahead() { return this_processor().row_bytes_ahead; }
double usual_tile_block() { return this_processor().tile_block; }
double usual_tile_fetch_bytes() { return this_processor().tile_fetch_bytes; }

double bytes_of_first_level() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) return static_cast<double>(bytes);
#endif
  return 32 << 10;
}

double ways_of_first_level() {
#ifdef _SC_LEVEL1_DCACHE_ASSOC
  if (const long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC); ways > 0) return static_cast<double>(ways);
#endif
  return 8;
}

double usual_stream_bytes() {
  constexpr double part = 24 << 20;
  return std::min(static_cast<double>(machine_cache_bytes()), part);
}

double usual_shared_stream_bytes() { return usual_stream_bytes() * this_processor().threads_keep; }

// What goes past them costs by what is written, what stays costs the more an element the more there is: results that are a third of the bytes pay a
// third sooner, two thirds later. a x + y and two results of x, MiB from which stores past the caches pay: less than 20 and 45, on two threads 35
// and 70; x to one result 28 and 57 (Zen 4).
Index Machine::bytes_within_caches(double all, double written, int threads) const {
  const double share = all > 0 ? std::clamp(written / all, 1.0 / 3, 2.0 / 3) : 0.5;
  return static_cast<Index>((threads > 1 ? shared_stream_bytes : stream_bytes) * 2 * share);
}

std::string to_text(const Machine& machine) {
  std::string text;
  for (const Key& key : keys) {
    char number[32];
    const auto end = std::to_chars(number, number + sizeof number, machine.*key.value).ptr;
    const std::string entry = concat(key.name, " ", std::string(number, end));
    text += *key.purpose ? concat(entry, std::string(entry.size() < 34 ? 34 - entry.size() : 1, ' '), "# ", key.purpose, "\n") : entry + "\n";
  }
  return text;
}

Machine parse_machine(const std::string& text, const std::string& file) {
  constexpr const char* remedy = "\n  mend the line, or measure again with: weft calibrate --write";
  Machine machine;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, value, rest;
    if (!(words >> name)) continue;
    const auto key = std::find_if(std::begin(keys), std::end(keys), [&](const Key& k) { return name == k.name; });
    WEFT_REQUIRE(key != std::end(keys), usage, file, ":", number, ": expected one of ", names(), ", got ", name, remedy);
    const bool one = words >> value && !(words >> rest);
    const double parsed = one ? positive(value) : 0;
    WEFT_REQUIRE(parsed > 0, usage, file, ":", number, ": expected ", name, " and a number above 0, at most 1e15, got ", line, remedy);
    machine.*key->value = parsed;
  }
  return machine;
}

std::filesystem::path machine_file() {
  if (const char* file = std::getenv("WEFT_MACHINE")) return file;
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder) return std::filesystem::path(folder) / "weft" / "machine";
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".config" / "weft" / "machine";
  return {};
}

Machine read_machine(const std::filesystem::path& path) {
  std::ifstream file;
  if (!path.empty()) file.open(path);
  if (!file.is_open()) return {};
  std::stringstream text;
  text << file.rdbuf();
  return parse_machine(text.str(), path.string());
}

const Machine& this_machine() {
  static const Machine machine = read_machine(machine_file());
  return machine;
}

}  // namespace weft
