#include "runner.h"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

#include "isolate.h"
#include "loop_trace.h"

using namespace conformance;

namespace {

// A correct case; tests spoil one thing each.
Json sum_of_two() {
  return Json::parse(R"({"id": "t", "op": "add", "attrs": {"dialect": "array_api"},
    "inputs": [{"dtype": "float64", "shape": [2, 1], "data": [1, 2]}, {"dtype": "float64", "shape": [3], "data": [10, 20, 30]}],
    "expect": {"shape": [2, 3], "dtype": "float64", "data": [11, 21, 31, 12, 22, 32]}})");
}

Outcome run(const std::string& text) { return run_case(Json::parse(text)); }

}  // namespace

TEST_CASE("a case that weft computes as expected passes") { CHECK(run_case(sum_of_two()).verdict == Verdict::passed); }

TEST_CASE("a wrong element, shape or dtype fails and names both values") {
  Json element = sum_of_two(), shape = sum_of_two(), dtype = sum_of_two();
  element["expect"]["data"][5] = 33;
  shape["expect"]["shape"] = {3, 2};
  dtype["expect"]["dtype"] = "float32";
  CHECK(run_case(element).verdict == Verdict::failed);
  CHECK(run_case(element).text == "element 5: expected 33, got 32 in f64[2, 3] {11, 21, 31, 12, 22, 32}");
  CHECK(run_case(shape).text == "shape: expected [3,2], got [2,3]");
  CHECK(run_case(dtype).text == "dtype: expected \"float32\", got \"float64\"");
}

TEST_CASE("a result where an error is expected fails, and so does an error where a result is") {
  Json refused = sum_of_two(), result = sum_of_two();
  refused["expect"] = {{"error", "no"}};
  result["inputs"][0] = {{"dtype", "float64"}, {"shape", {2}}, {"data", {1, 2}}};
  CHECK(run_case(refused).text == "expected an error (\"no\"), got f64[2, 3] {11, 21, 31, 12, 22, 32}");
  CHECK(run_case(result).verdict == Verdict::failed);
  CHECK(run_case(result).text.rfind("expected a result, got the error: shape: ", 0) == 0);
  result["expect"] = {{"error", "2 against 3"}};
  CHECK(run_case(result).verdict == Verdict::passed);
}

TEST_CASE("an expectation that nobody checks fails") {
  Json unknown = sum_of_two();
  unknown["expect"]["colour"] = "red";
  CHECK(run_case(unknown).text == "the expectation 'colour' is not known for op add");
}

TEST_CASE("the alternative expectation passes and is counted as such") {
  Json either = sum_of_two();
  either["alt_expect"] = either["expect"];
  either["expect"] = {{"error", "strict"}};
  CHECK(run_case(either).verdict == Verdict::alternative);
}

TEST_CASE("unknown ops, dialects, rules and short data fail with a reason; complex numbers are skipped") {
  Json op = sum_of_two(), dialect = sum_of_two(), rule = sum_of_two(), few = sum_of_two(), complex = sum_of_two();
  op["op"] = "entangle";
  dialect["attrs"]["dialect"] = "cobol";
  rule["inputs"][0]["data"] = {{"rule", "dice"}};
  few["inputs"][0]["data"] = {1};
  complex["inputs"][0]["dtype"] = "complex64";
  CHECK(run_case(op).text == "unknown op 'entangle' in dialect 'array_api'");
  CHECK(run_case(dialect).text == "unknown op 'add' in dialect 'cobol'");
  CHECK(run_case(rule).text == "not a case: unknown rule for data: {\"rule\":\"dice\"}");
  CHECK(run_case(few).text == "not a case: shape [2, 1] has 2 elements, data 1");
  CHECK(run_case(complex).verdict == Verdict::skipped);
  CHECK(run_case(Json::array()).text == "not a case: not an object: []");
  CHECK(run_case(Json::parse(R"({"id": "t", "op": "add"})")).text == "not a case: a case needs the key 'expect'");
}

TEST_CASE("tolerances: integers are exact, floats near, signed zeros where they are asked for, tiny values are no rounding") {
  const auto negated = [](const std::string& dtype, const std::string& data, const std::string& expected) {
    return run(R"({"id": "t", "op": "negative", "attrs": {}, "inputs": [{"dtype": ")" + dtype + R"(", "shape": [1], "data": [)" + data + R"(]}], "expect": )" + expected + "}").verdict;
  };
  CHECK(negated("int32", "5", R"({"data": [-5]})") == Verdict::passed);
  CHECK(negated("int32", "5", R"({"data": [-6], "tol": 1})") == Verdict::failed);
  CHECK(negated("float32", "1", R"({"data": [-1.000001]})") == Verdict::passed);
  CHECK(negated("float32", "1", R"({"data": [-1.0001]})") == Verdict::failed);
  CHECK(negated("float32", "1", R"({"data": [-1.0001], "tol": 1e-3})") == Verdict::passed);
  CHECK(negated("float64", "0.0", R"({"data": [0.0]})") == Verdict::passed);
  CHECK(negated("float64", "0.0", R"({"data": [0.0], "compare": "bitwise-signed-zero, any NaN"})") == Verdict::failed);
  CHECK(negated("float64", "0.0", R"({"data": ["-0.0"], "compare": "bitwise-signed-zero, any NaN"})") == Verdict::passed);
  CHECK(negated("float64", "\"nan\"", R"({"data": ["nan"]})") == Verdict::passed);
  CHECK(negated("float64", "\"nan\"", R"({"data": [0]})") == Verdict::failed);
  CHECK(negated("float64", "\"inf\"", R"({"data": ["-inf"]})") == Verdict::passed);
  CHECK(negated("float64", "0.0", R"({"data": [-3e-44], "tol": 1e-6})") == Verdict::failed);
  CHECK(negated("float64", "2", R"({"data": ["+"], "compare": "sign only"})") == Verdict::failed);
}

TEST_CASE("probes compare elements, count and sum") {
  Json probed = sum_of_two();
  const auto with = [&](const char* probes) {
    probed["expect"]["data"] = Json::parse(probes);
    return run_case(probed).verdict;
  };
  CHECK(with(R"({"rule": "probes", "count": 6, "sum": 129, "probes": [[0, 11], [5, 32]]})") == Verdict::passed);
  CHECK(with(R"({"rule": "probes", "count": 6, "sum": 129, "probes": [[0, 12]]})") == Verdict::failed);
  CHECK(with(R"({"rule": "probes", "count": 7, "sum": 129, "probes": []})") == Verdict::failed);
  CHECK(with(R"({"rule": "probes", "count": 6, "sum": 130, "probes": []})") == Verdict::failed);
}

TEST_CASE("views change what the op sees") {
  const auto viewed = [](const std::string& views, const std::string& expected) {
    return run(R"({"id": "t", "op": "negative", "attrs": {"views": )" + views + R"(}, "inputs": [{"dtype": "int64", "shape": [2, 3], "data": "iota"}], "expect": {"data": )" + expected + "}}").verdict;
  };
  for (const char* views : {R"("T")", R"(["transpose"])", R"({"transpose": [1, 0]})", R"([{"permute": [1, 0]}])", R"({"0": "T"})", R"({"transposed": true})", R"("x.T")", "\"x.transpose(1, 0)\"", "\"x.swapaxes(0, 1)\""}) {
    CHECK(viewed(views, "[0, -3, -1, -4, -2, -5]") == Verdict::passed);
  }
  for (const char* views : {R"("flip")", R"("[::-1]")", R"({"flip": [0]})", R"({"flip": 0})", R"({"slice": [[null, null, -1], "..."]})", R"([["flipped"]])"}) {
    CHECK(viewed(views, "[-3, -4, -5, 0, -1, -2]") == Verdict::passed);
  }
  CHECK(viewed(R"({"slice": [1, [0, 2]]})", "[-3, -4]") == Verdict::passed);
  CHECK(viewed(R"("[1, ::2]")", "[-3, -5]") == Verdict::passed);
  CHECK(viewed(R"("x.T[::-1, 0]")", "[-2, -1, 0]") == Verdict::passed);
  CHECK(viewed(R"("[1, ::2]")", "[-3, -4]") == Verdict::failed);
  CHECK(viewed(R"("upside down")", "[0]") == Verdict::failed);
}

TEST_CASE("in-place programs read before they write") {
  const auto program = [](const std::string& text, const std::string& expected) {
    return run(R"({"id": "t", "op": "inplace_alias", "attrs": {"program": ")" + text + R"("}, "inputs": [{"dtype": "float64", "shape": [4], "data": "iota"}], "expect": {"data": )" + expected + "}}");
  };
  CHECK(program("x += x[::-1]", "[3, 3, 3, 3]").verdict == Verdict::passed);
  CHECK(program("x[1:] = x[:-1]; x *= 2", "[0, 0, 2, 4]").verdict == Verdict::passed);
  CHECK(program("x[::2] -= (1 + x[1::2]) * -0.5", "[1, 1, 4, 3]").verdict == Verdict::passed);
  CHECK(program("x += maximum(x, 2)", "[2, 3, 4, 6]").verdict == Verdict::passed);
  CHECK(program("x += x[::-1]", "[3, 3, 1, 0]").verdict == Verdict::failed);
  CHECK(program("x +", "[]").text.rfind("not a case: expected an assignment", 0) == 0);
}

TEST_CASE("per_dialect verdicts are compared one by one; an unknown mode fails with its name") {
  const auto pair = [](const std::string& verdicts) {
    return run(R"({"id": "t", "op": "shapes", "inputs": [{"shape": [2, 3]}, {"shape": [2]}], "expect": {"per_dialect": )" + verdicts + "}}");
  };
  CHECK(pair(R"({"array_api": {"error": "3 vs 2"}, "xla": null, "openvino_numpy": {"error": ""}, "openvino_bidirectional": "error", "tml_arithmetic": false,
                 "tml_relational": {"error": ""}, "tml_assign": {"error": ""}, "array_api_inplace": {"error": ""}, "theano_c_broadcast": {"shape": [2, 3]},
                 "theano_f_broadcast": {"error": ""}, "theano_c_accumulate": [2], "theano_f_accumulate": {"shape": null}})").text == "");
  CHECK(pair(R"({"theano_c_broadcast": {"shape": [2]}})").text == R"(theano_c_broadcast: expected {"shape":[2]}, got {"shape":[2,3]})");
  CHECK(pair(R"({"array_api": [2, 3]})").verdict == Verdict::failed);
  CHECK(pair(R"({"fortran": [2, 3]})").text == "unknown mode 'fortran'");
}

TEST_CASE("a case that crashes fails alone") {
  const Json cases = Json::array({sum_of_two(), sum_of_two(), sum_of_two()});
  std::vector<Outcome> outcomes;
  run_isolated(cases, [&](std::size_t, const Outcome& outcome) { outcomes.push_back(outcome); }, [](const Json&) -> Outcome {
    static int count = 0;
    if (++count == 2) std::raise(SIGKILL);
    return {};
  });
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].verdict == Verdict::passed);
  CHECK(outcomes[1].text == "crashed: Killed");
  CHECK(outcomes[2].verdict == Verdict::passed);
}

TEST_CASE("the trace of a program runs its loops") {
  const auto trace = loop_trace("program p {\n  parallel i in 2 {\n    t2 = load %y[i]\n    lanes j in 2, folds %1 by sum f64 {\n      t1 = load %x[i,j]\n"
                                "      store %0[i,j] = t1\n      %1 += t1\n    }\n    store %2[i] = t2\n  }\n}\n");
  const std::vector<std::string> expected = {"init acc1", "acc x[0,0]", "set rank2 out[0,0]", "acc x[0,1]", "set rank2 out[0,1]", "set rank1 out[0]",
                                             "init acc1", "acc x[1,0]", "set rank2 out[1,0]", "acc x[1,1]", "set rank2 out[1,1]", "set rank1 out[1]"};
  CHECK(trace == expected);
}
