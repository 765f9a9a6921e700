#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walpost::outbox::testing {

/// What nlohmann's parser finds in a document, for comparison with our own scanner: the members of
/// the outermost object in order, strings decoded, nothing for null, and a canonical form for the
/// rest.
class HeadersOracle {
 public:
  using Member = std::pair<std::string, std::optional<std::string>>;

  /// Returns whether the parser accepts the document and it is an object.
  bool read(std::string_view json) {
    *this = HeadersOracle{};
    return nlohmann::json::sax_parse(json, this) && object_;
  }

  /// The canonical form of a value that is neither string nor null.
  static std::string canonical(std::string_view value) {
    HeadersOracle oracle;
    if (!oracle.read("{\"k\":" + std::string(value) + "}") || oracle.members_.size() != 1)
      return {};
    return oracle.members_[0].second.value_or("");
  }

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// The parser gave up on a number that a double can't hold, which is none of its grammar's
  /// business.
  [[nodiscard]] bool number_overflowed() const { return overflowed_; }

  // What nlohmann calls.
  bool null() { return depth_ == 1 ? member(std::nullopt) : text("null"); }
  bool boolean(bool value) { return other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return other(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return other(std::to_string(value)); }
  bool number_float(double, const std::string& written) { return other(written); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool string(std::string& value) {
    return depth_ == 1 ? member(value) : text(nlohmann::json(value).dump() + ",");
  }
  bool key(std::string& name) {
    if (depth_ != 1) return text(nlohmann::json(name).dump() + ":");
    names_.push_back(name);
    return true;
  }
  bool start_object(std::size_t) {
    if (depth_++ == 0) return object_ = true;
    return text("{");
  }
  bool end_object() { return end("}"); }
  bool start_array(std::size_t) {
    ++depth_;
    return text("[");
  }
  bool end_array() { return end("]"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    constexpr int number_overflow = 406;
    overflowed_ = error.id == number_overflow;
    return false;
  }

 private:
  bool member(std::optional<std::string> value) {
    // The elements of an outermost array have no names; such a document is refused at its end.
    if (object_) members_.emplace_back(names_.back(), std::move(value));
    return true;
  }
  bool other(const std::string& written) {
    return depth_ == 1 ? member(written) : text(written + ",");
  }
  bool text(const std::string& token) {
    nested_ += token;
    return true;
  }
  bool end(const std::string& bracket) {
    text(bracket);
    if (--depth_ == 1 && object_) {
      member(nested_);
      nested_.clear();
    }
    return true;
  }

  int depth_ = 0;
  bool object_ = false;
  bool overflowed_ = false;
  std::vector<std::string> names_;
  std::string nested_;
  std::vector<Member> members_;
};

}  // namespace walpost::outbox::testing
