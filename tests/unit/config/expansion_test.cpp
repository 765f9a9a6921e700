#include "load_fixture.h"

namespace walpost::config {
namespace {

using testing::ElementsAre;

/// The url stands for any value: it takes every text.
class ExpansionTest : public LoadTest {
 protected:
  std::string expanded(const std::string& text) {
    return config_of("postgres: {url: '" + text + "'}").postgres.url;
  }
  std::vector<std::string> problems_of_value(const std::string& text) {
    return problems_of("postgres: {url: '" + text + "'}");
  }
};

TEST_F(ExpansionTest, AVariableIsReplacedWhereverItStands) {
  variables_ = {{"USER_1", "ann"}, {"HOST", "db"}};
  EXPECT_EQ(expanded("${USER_1}"), "ann");
  EXPECT_EQ(expanded("postgresql://${USER_1}@${HOST}/app"), "postgresql://ann@db/app");
}

TEST_F(ExpansionTest, WhatAVariableHoldsIsNotExpandedAgain) {
  variables_ = {{"A", "${B} $$"}};
  EXPECT_EQ(expanded("${A}"), "${B} $$");
}

TEST_F(ExpansionTest, TheDefaultStandsInForAnUnsetOrEmptyVariable) {
  variables_ = {{"EMPTY", ""}, {"FULL", "x"}};
  EXPECT_EQ(expanded("${UNSET:-host=a b}"), "host=a b");
  EXPECT_EQ(expanded("${EMPTY:-d}"), "d");
  EXPECT_EQ(expanded("${FULL:-d}"), "x");
  EXPECT_EQ(expanded("[${UNSET:-}]"), "[]");
  EXPECT_EQ(expanded("[${EMPTY}]"), "[]");
}

TEST_F(ExpansionTest, TwoDollarsAreOneAndASingleOneIsItself) {
  EXPECT_EQ(expanded("a$$b"), "a$b");
  EXPECT_EQ(expanded("$${HOME}"), "${HOME}");
  EXPECT_EQ(expanded("$HOME $ 5$"), "$HOME $ 5$");
  EXPECT_EQ(expanded("$$$$"), "$$");
}

TEST_F(ExpansionTest, AFileIsReadWithoutItsTrailingNewline) {
  EXPECT_EQ(expanded("${file:" + write("a", "secret\n") + "}"), "secret");
  EXPECT_EQ(expanded("${file:" + write("b", "secret") + "}"), "secret");
  EXPECT_EQ(expanded("${file:" + write("c", "secret\r\n") + "}"), "secret");
  EXPECT_EQ(expanded("${file:" + write("d", "two\nlines\n\n") + "}"), "two\nlines\n");
  EXPECT_EQ(expanded("${file:" + write("e", "$$ ${X}") + "}"), "$$ ${X}");
}

TEST_F(ExpansionTest, TheEntriesOfMapsAreExpandedToo) {
  variables_["PASSWORD"] = "hunter2";
  EXPECT_EQ(config_of("kafka: {sasl.password: '${PASSWORD}'}").kafka.properties.at("sasl.password"),
            "hunter2");
}

TEST_F(ExpansionTest, AMissingVariableIsNamedWithThePath) {
  EXPECT_THAT(problems_of_value("${DB_URL}"),
              ElementsAre("postgres.url: the environment variable DB_URL is not set; set it, or "
                          "give a default as in ${DB_URL:-default} (walpost.yaml, line 1)"));
}

TEST_F(ExpansionTest, EachMissingVariableOfAValueIsReported) {
  EXPECT_THAT(problems_of_value("${A}${B}"), testing::SizeIs(2));
}

TEST_F(ExpansionTest, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT(problems_of_value("${file:" + folder_.string() + "/none}"),
              ElementsAre("postgres.url: cannot read the file none: No such file or directory "
                          "(walpost.yaml, line 1)"));
  EXPECT_THAT(problems_of_value("${file:" + folder_.string() + "}"),
              ElementsAre(testing::HasSubstr("Is a directory")));
  EXPECT_THAT(problems_of_value("${file:" + write("nul", std::string("a\0b", 3)) + "}"),
              ElementsAre(testing::HasSubstr("holds a NUL byte")));
  EXPECT_THAT(problems_of_value("${file:" + write("big", std::string(1048577, 'x')) + "}"),
              ElementsAre(testing::HasSubstr("File too large")));
}

TEST_F(ExpansionTest, AMalformedReferenceIsAnError) {
  EXPECT_THAT(problems_of_value("${OPEN"),
              ElementsAre("postgres.url: a ${ has no closing }; write $$ for a literal $ "
                          "(walpost.yaml, line 1)"));
  EXPECT_THAT(problems_of_value("${A:-${B}}"),
              ElementsAre("postgres.url: a ${...} can't stand inside another one "
                          "(walpost.yaml, line 1)"));
  for (const char* name : {"", "1A", "A-B", "A B", ":-x", "env:A"}) {
    EXPECT_THAT(problems_of_value("${" + std::string(name) + "}"),
                ElementsAre(testing::HasSubstr("names no variable")))
        << name;
  }
}

}  // namespace
}  // namespace walpost::config
