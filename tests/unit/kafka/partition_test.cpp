#include "partition.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "producer.h"
#include "wakeup.h"

namespace walpost::kafka {
namespace {

std::string from_hex(const std::string& text) {
  std::string bytes;
  if (text == "-") return bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(Partition, IsTheOneThatKafkasOwnProducersChoose) {
  const Wakeup wakeup;
  const Producer producer(producer_properties({{"bootstrap.servers", "127.0.0.1:1"}}, std::nullopt),
                          wakeup.event_fd());
  const auto topic = producer.topic("orders", nullptr);
  std::ifstream file(WALPOST_TEST_DATA "/kafka/murmur2.txt");
  std::size_t keys = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string key;
    long long hash = 0;
    fields >> key >> hash;
    for (const int count : {1, 3, 6, 12, 50, 1000}) {
      std::int32_t expected = -1;
      fields >> expected;
      EXPECT_EQ(partition_of(from_hex(key), topic.get(), count), expected)
          << "key " << key << " of " << count;
    }
    ++keys;
  }
  EXPECT_EQ(keys, 77u);
}

TEST(Partition, AnEmptyKeyWithoutAPointerIsStillAKey) {
  EXPECT_NE(present(std::string_view()), nullptr);
}

}  // namespace
}  // namespace walpost::kafka
