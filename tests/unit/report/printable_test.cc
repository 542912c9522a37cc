#include "emulator/report/printable.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;

TEST(OneLineTest, ControlCharactersBecomeEscapes) {
  EXPECT_EQ(OneLine("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(OneLine(std::string("\x1B[31m\0", 6)), "\\x1B[31m\\x00");
  EXPECT_EQ(OneLine("\x7F"), "\\x7F");
  EXPECT_EQ(OneLine("\xC2\x85 \xE2\x80\xA8 \xE2\x80\xA9"), "\\u0085 \\u2028 \\u2029");
}

TEST(OneLineTest, KeepsWellFormedUtf8) {
  EXPECT_EQ(OneLine("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"), "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80");
}

TEST(OneLineTest, BrokenUtf8IsReplacedByteByByte) {
  EXPECT_EQ(OneLine("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(OneLine("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(OneLine("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong
  EXPECT_EQ(OneLine("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // surrogate
}

TEST(XmlEscapeTest, ContentIsSafe) {
  EXPECT_EQ(XmlEscape("a<b & c>d \"q\"\n\t", false), "a&lt;b &amp; c&gt;d \"q\"\n\t");
  EXPECT_EQ(XmlEscape("]]>", false), "]]&gt;");
  EXPECT_EQ(XmlEscape("a\rb", false), "a&#13;b");
}

TEST(XmlEscapeTest, AttributesKeepLineBreaksAndQuotes) {
  EXPECT_EQ(XmlEscape("say \"x\"\n\t", true), "say &quot;x&quot;&#10;&#9;");
}

TEST(XmlEscapeTest, WhatXmlForbidsIsReplaced) {
  EXPECT_EQ(XmlEscape(std::string("\0\x01\x1B", 3), false), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(XmlEscape("\xEF\xBF\xBE\xEF\xBF\xBF", false), "\xEF\xBF\xBD\xEF\xBF\xBD");  // U+FFFE, U+FFFF
  EXPECT_EQ(XmlEscape("\x80", false), "\xEF\xBF\xBD");
}

TEST(SecondsTest, RoundsHalfUpToMilliseconds) {
  EXPECT_EQ(Seconds(0ns), "0.000");
  EXPECT_EQ(Seconds(499999ns), "0.000");
  EXPECT_EQ(Seconds(500000ns), "0.001");
  EXPECT_EQ(Seconds(24h + 250ms), "86400.250");
  EXPECT_EQ(Seconds(-1500ms), "-1.500");
}

TEST(ShellQuoteTest, QuotesOnlyWhatAShellWouldChange) {
  EXPECT_EQ(ShellQuote("scenarios/a-b.scenario.json"), "scenarios/a-b.scenario.json");
  EXPECT_EQ(ShellQuote("my file"), "'my file'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellQuote(""), "''");
}

}  // namespace
}  // namespace opensandbox::emulator
