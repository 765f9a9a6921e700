#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walpost::kafka {

using PropertyMap = std::map<std::string, std::string>;

/// The name under which librdkafka documents a property: "acks" is "request.required.acks".
[[nodiscard]] std::string_view canonical_name(std::string_view property);

/// What a producer is created with: the user's properties over walpost's defaults. May hold
/// secrets.
struct ProducerProperties {
  std::vector<std::pair<std::string, std::string>> values;  ///< in the order to set them
  std::size_t batch_bytes = 0;      ///< no batch of several records is larger than this
  bool batch_bytes_chosen = false;  ///< the user set batch.size: it isn't ours to lower
  bool compressed = false;  ///< a record may become smaller on the wire than batch_bytes() says
};

/// `batch_limit` is the smallest max.message.bytes among the topics seen so far, if any is smaller
/// than the default. REQUIRES: property_errors(user) is empty.
[[nodiscard]] ProducerProperties producer_properties(const PropertyMap& user,
                                                     std::optional<std::size_t> batch_limit);
/// The same for a producer of transactions.
[[nodiscard]] ProducerProperties transactional_properties(const PropertyMap& user,
                                                          std::optional<std::size_t> batch_limit,
                                                          const std::string& transactional_id);

/// What a consumer is created with that reads what transactions have committed, in the order to
/// set: of the user's properties those that say how to reach the brokers. May hold secrets.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> reader_properties(
    const PropertyMap& user);

}  // namespace walpost::kafka
