#include <weft/extent.h>

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>
#include <error_text.h>
#include <weft/error.h>

using namespace weft;

TEST_CASE("extents are canonical: equal sizes written differently are equal") {
  const Extent n = "n", m = "m";
  CHECK(n + 1 - 1 == n);
  CHECK(n + m == m + n);
  CHECK(n * 2 + n == 3 * n);
  CHECK(n - n == Extent(0));
  CHECK((n - n).is_number());
  CHECK(n * m == m * n);
  CHECK((n * m) * n == n * (n * m));
  CHECK((2 * n) * m == 2 * (n * m));
  CHECK((n + 1) * m == m * (1 + n));
  CHECK(floor_div(n + 1, 2) == floor_div(1 + n, 2));
  CHECK_FALSE(n == m);
  CHECK_FALSE(n == n + 1);
  CHECK_FALSE(n == Extent(3));
  CHECK(floor_div(n, 1) == n);
}

TEST_CASE("extents print and read back") {
  for (const std::string text : {"0", "-3", "n", "n+1", "n-1", "2*n", "-n", "-2*n+7", "m+2*n-1", "(n+1)/2", "(m)*(n)", "3*((n+1)/2)+1", "((n+1)/2)*(m+1)", "((n)/2)/3", "(k)*(m)*(n)", "2*((m)*(n))", "(m+1)*(n)",
                           "-(n)/2"}) {
    CAPTURE(text);
    const Extent extent = parse_extent(text);
    CHECK(parse_extent(to_text(extent)) == extent);
    CHECK(to_text(parse_extent(to_text(extent))) == to_text(extent));
  }
  CHECK(to_text(Extent("n") * 2 + "m" - 1) == "m+2*n-1");
  const Extent n("n"), most(std::numeric_limits<Index>::max());
  CHECK(error_text([&] { most + 1; }) == "shape: extent: 9223372036854775807 + 1 is beyond 64 bits");
  CHECK(error_text([&] { (n * n).evaluate({{"n", Index{1} << 40}}); }) == "shape: extent: 1099511627776 * 1099511627776 is beyond 64 bits");
  CHECK((n * n).evaluate({{"n", Index{1} << 31}}) == Index{1} << 62);
  const Extent large = Index{900000000000000000} * n;
  CHECK(error_text([&] { for (Extent total = large; ; total = total + large) {} }) == "shape: extent: 9000000000000000000 + 900000000000000000 is beyond 64 bits");
  CHECK(error_text([&] { (Index{1} << 40) * n * ((Index{1} << 40) * Extent("m")); }) == "shape: extent: 1099511627776 * 1099511627776 is beyond 64 bits");
  CHECK(to_text(floor_div(Extent("n") + 1, 2)) == "(n+1)/2");
  CHECK(floor_div(2 * Extent("n") + 1, 2) == Extent("n"));          // what divides comes out: floor((k s + r) / k) = s + floor(r / k)
  CHECK(to_text(floor_div(6 * Extent("n") - 4 * Extent("m") - 1, 2)) == "-2*m+3*n-1");
  CHECK(to_text(parse_extent(" 2 * n + 1 ")) == "2*n+1");
  CHECK(to_text(Shape{"n", 64}) == "[n, 64]");
}

TEST_CASE("extents evaluate with symbols bound") {
  const Bindings bindings{{"n", 7}, {"m", 3}};
  CHECK((2 * Extent("n") + "m" - 1).evaluate(bindings) == 16);
  CHECK(floor_div(Extent("n") + 1, 2).evaluate(bindings) == 4);
  CHECK(floor_div(Extent("m") - "n", 3).evaluate(bindings) == -2);   // floor, not truncation
  CHECK((Extent("n") * "m").evaluate(bindings) == 21);
  CHECK((Extent("n") * "n" * "m").evaluate(bindings) == 147);
  CHECK(Extent(5).evaluate({}) == 5);
}

TEST_CASE("extents know what divides them") {
  const Bindings multiples{{"n", 64}, {"m", 16}, {"z", 0}, {"huge", Index{1} << 62}};
  const Extent n = "n", m = "m";
  CHECK(n.divisor(multiples) == 64);
  CHECK((n + m).divisor(multiples) == 16);
  CHECK((3 * n - 32).divisor(multiples) == 32);
  CHECK((n + 1).divisor(multiples) == 1);
  CHECK((n * m).divisor(multiples) == 1024);
  CHECK((n * "k").divisor(multiples) == 64);              // nothing is known of k
  CHECK(Extent("k").divisor(multiples) == 1);
  CHECK(floor_div(n, 4).divisor(multiples) == 16);
  CHECK(floor_div(n, 3).divisor(multiples) == 1);
  CHECK(floor_div(n + 8, 4).divisor(multiples) == 2);
  CHECK(common_extent(n, m).divisor(multiples) == 16);    // n or m
  CHECK(Extent(48).divisor(multiples) == 48);
  CHECK(Extent(-48).divisor(multiples) == 48);
  CHECK(Extent(0).divisor(multiples) == 0);
  CHECK(Extent("z").divisor(multiples) == 0);             // 0 alone
  CHECK((Extent("z") + n).divisor(multiples) == 64);
  CHECK((Extent("huge") * "huge").divisor(multiples) == Index{1} << 62);
}

TEST_CASE("extents know their symbols") {
  std::vector<std::string> symbols;
  (floor_div(Extent("n") + "m", 2) + "n" * Extent("k")).collect_symbols(symbols);
  std::sort(symbols.begin(), symbols.end());
  CHECK(symbols == std::vector<std::string>{"k", "m", "n"});
  CHECK(Extent("n").is_symbol("n"));
  CHECK_FALSE((Extent("n") + 1).is_symbol("n"));
  CHECK(Extent(4).number() == 4);
  CHECK_FALSE(Extent("n").number().has_value());
}

TEST_CASE("extent errors say what is wrong") {
  CHECK(error_text([] { Extent("2n"); }) == "text: extent: expected the name of a symbol, got \"2n\"");
  CHECK(error_text([] { Extent("2"); }) == "text: extent: expected the name of a symbol, got \"2\"\n  write the number 2 without quotes");
  CHECK(error_text([] { Extent("2*n+1"); }) == "text: extent: expected the name of a symbol, got \"2*n+1\"\n  an expression is parse_extent(\"2*n+1\")");
  CHECK(error_text([] { Extent(""); }) == "text: extent: expected the name of a symbol, got \"\"");
  CHECK(error_text([] { Extent("n").evaluate({}); }) == "shape: symbol n is not bound by any input");
  CHECK(error_text([] { floor_div(Extent("n"), 0); }) == "shape: extent: expected a positive divisor, got 0");
  CHECK(error_text([] { parse_extent("n+"); }) == "text: extent: expected a number or a name in \"n+\"");
  CHECK(error_text([] { parse_extent("n)"); }) == "text: extent: unexpected \")\" in \"n)\"");
  CHECK(error_text([] { parse_extent("(n"); }) == "text: extent: expected ) in \"(n\"");
  CHECK(error_text([] { parse_extent("n/m"); }) == "text: extent: expected a number after / in \"n/m\"");
  CHECK(error_text([] { parse_extent("3n"); }) == "text: extent: expected a number, got \"3n\"");
  CHECK(error_text([] { parse_extent("99999999999999999999"); }) == "text: extent: expected a number below 10^18, got 99999999999999999999");
}

TEST_CASE("elements of an input are symbols of their own") {
  const Extent e = "s[0]", f = parse_extent("2*s[1]+n");
  CHECK(to_text(e + 1) == "s[0]+1");
  CHECK(to_text(f) == "n+2*s[1]");
  CHECK(parse_extent(to_text(floor_div(f, 3))) == floor_div(f, 3));
  CHECK(f.evaluate({{"n", 1}, {"s[1]", 4}}) == 9);
  CHECK(element_symbol("s[12]")->input == "s");
  CHECK(element_symbol("s[12]")->element == 12);
  for (const char* text : {"s", "s[]", "s[x]", "[0]", "s[0", "s[01]", "s[0]]", "2s[0]"}) {
    CAPTURE(text);
    CHECK(!element_symbol(text));
  }
  CHECK(error_text([] { Extent("s[-1]"); }) == "text: extent: expected the name of a symbol, got \"s[-1]\"");
  CHECK(error_text([] { parse_extent("s[0"); }) == "text: extent: expected the name of a symbol, got \"s[0\"");
}

TEST_CASE("the common extent of two: equal, or one of them 1") {
  const Extent c = common_extent("n", "m");
  CHECK(to_text(c) == "common(m,n)");
  CHECK(c == common_extent("m", "n"));
  CHECK(parse_extent("2*(common(n,m+1))-3") == Extent(2) * common_extent("n", Extent("m") + 1) - 3);
  CHECK(parse_extent(to_text(Extent(2) * c)) == Extent(2) * c);
  CHECK(common_extent("n", 1) == Extent("n"));
  CHECK(common_extent(1, 0) == Extent(0));
  CHECK(common_extent("n", "n") == Extent("n"));
  CHECK(c.evaluate({{"n", 1}, {"m", 0}}) == 0);
  CHECK(c.evaluate({{"n", 4}, {"m", 1}}) == 4);
  CHECK(c.evaluate({{"n", 4}, {"m", 4}}) == 4);
  CHECK(error_text([&] { c.evaluate({{"n", 4}, {"m", 3}}); }) == "shape: extents m = 3 and n = 4 must be equal, or one of them 1");
  CHECK(error_text([] { common_extent(2, 3); }) == "shape: extent: 2 and 3 have no common extent");
  CHECK(error_text([] { parse_extent("common(n)"); }) == "text: extent: expected , in \"common(n)\"");
  CHECK(error_text([] { parse_extent("common(n,m"); }) == "text: extent: expected ) in \"common(n,m\"");
}

TEST_CASE("symbols are replaced wherever they stand") {
  const Extent e = Extent(3) * floor_div(Extent("n") + 1, 2) + Extent("n") * Extent("m") + common_extent("n", "k") - 5;
  CHECK(replace(e, {{"n", 3}}) == Extent(6) + Extent(3) * Extent("m") + common_extent(3, "k") - 5);
  CHECK(replace(e, {{"n", "k"}, {"m", 0}}) == Extent(3) * floor_div(Extent("k") + 1, 2) + "k" - 5);
  CHECK(replace(7, {{"n", 3}}) == Extent(7));
}
