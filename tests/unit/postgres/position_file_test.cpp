#include "postgres/position_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "walpost/relay/failure.h"

namespace walpost::postgres {
namespace {

using pgoutput::Lsn;
using relay::FailureKind;
using relay::SessionFailure;

class PositionFileTest : public testing::Test {
 public:
  ~PositionFileTest() override { std::filesystem::remove_all(folder); }

 protected:
  PositionFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "walpost-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    path = folder / "position";
  }

  static StoredPosition at(std::uint64_t lsn) {
    return {{"7431234567890123456", "3"}, "walpost", Lsn{lsn}};
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  FailureKind failure_of_load() {
    try {
      static_cast<void>(PositionFile(path).load("walpost"));
    } catch (const SessionFailure& failure) {
      EXPECT_NE(std::string(failure.what()).find(path.string()), std::string::npos);
      return failure.kind();
    }
    ADD_FAILURE() << "loaded";
    return FailureKind::transient;
  }

  std::filesystem::path folder;
  std::filesystem::path path;
};

TEST_F(PositionFileTest, ThereIsNoneBeforeTheFirstIsSaved) {
  EXPECT_FALSE(PositionFile(path).load("walpost"));
}

TEST_F(PositionFileTest, TheNewestSavedIsLoadedByTheNextProcess) {
  PositionFile file(path);
  for (const std::uint64_t lsn : {0x10u, 0x20u, 0x30u, 0x40u, 0x50u}) {
    file.save(at(lsn));
    PositionFile next(path);
    const auto loaded = next.load("walpost");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->confirmed, Lsn{lsn});
    EXPECT_EQ(loaded->slot, "walpost");
    EXPECT_EQ(loaded->identity, at(0).identity);
  }
  EXPECT_EQ(bytes().size(), 512u);  // it doesn't grow
}

TEST_F(PositionFileTest, AWriteThatWasCutOffAnywhereLeavesTheOneBefore) {
  PositionFile file(path);
  file.save(at(0x10));
  file.save(at(0x20));
  const std::string before = bytes();
  file.save(at(0x30));
  const std::string after = bytes();
  // The third takes the first one's place.
  for (std::size_t cut = 0; cut <= 256; ++cut) {
    write(after.substr(0, cut) + before.substr(cut));
    const auto loaded = PositionFile(path).load("walpost");
    ASSERT_TRUE(loaded) << cut;
    EXPECT_TRUE(loaded->confirmed == Lsn{0x20} || loaded->confirmed == Lsn{0x30}) << cut;
    if (cut < 60) {
      EXPECT_EQ(loaded->confirmed, Lsn{0x20}) << cut;
    }
  }
}

TEST_F(PositionFileTest, AFileOfSomethingElseIsRefused) {
  write("postgresql://db/app\n");
  EXPECT_EQ(failure_of_load(), FailureKind::refused);
  EXPECT_EQ(bytes(), "postgresql://db/app\n");
}

TEST_F(PositionFileTest, TheFileOfAnotherSlotIsRefused) {
  PositionFile(path).save(at(0x10));
  EXPECT_THROW(static_cast<void>(PositionFile(path).load("orders")), SessionFailure);
}

TEST_F(PositionFileTest, AFileWithBothLinesDamagedIsRefused) {
  PositionFile file(path);
  file.save(at(0x10));
  file.save(at(0x20));
  std::string damaged = bytes();
  damaged[25] ^= 1;
  damaged[256 + 25] ^= 1;
  write(damaged);
  EXPECT_EQ(failure_of_load(), FailureKind::refused);
}

TEST_F(PositionFileTest, WhatAnotherInstanceWroteIsNotWrittenOver) {
  PositionFile sleeper(path);
  sleeper.save(at(0x10));
  PositionFile successor(path);
  ASSERT_TRUE(successor.load("walpost"));
  successor.save(at(0x50));
  EXPECT_THROW(sleeper.save(at(0x20)), SessionFailure);
  EXPECT_EQ(PositionFile(path).load("walpost")->confirmed, Lsn{0x50});
  ASSERT_TRUE(sleeper.load("walpost"));
  sleeper.save(at(0x60));
  EXPECT_EQ(PositionFile(path).load("walpost")->confirmed, Lsn{0x60});
}

TEST_F(PositionFileTest, AFolderThatIsMissingIsAnErrorThatNamesTheFile) {
  PositionFile file(folder / "missing" / "position");
  try {
    file.save(at(0x10));
    FAIL() << "saved";
  } catch (const SessionFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("missing/position"), std::string::npos);
  }
}

}  // namespace
}  // namespace walpost::postgres
