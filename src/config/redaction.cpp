#include "walpost/config/redaction.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "schema.h"

namespace walpost::config {
namespace {

bool contains_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool is_secret_keyword(std::string_view keyword) {
  // sslkey is a file's name; the scram keys (PostgreSQL 18) stand in for the password. A percent
  // sign could spell any of them.
  constexpr std::array<std::string_view, 5> parts{"password", "secret", "token", "scram_", "%"};
  return contains_any(keyword, parts);
}

/// Hides the password between the user's name and the host. Nothing where an @ or / that should be
/// percent-encoded makes it unclear where the password ends.
std::optional<std::string> redact_authority(std::string_view base) {
  const std::size_t at = base.find('@');
  if (at == std::string_view::npos) {
    return std::string(base);
  }
  if (base.find('/') < at || base.find('@', at + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t colon = base.find(':');
  if (colon > at) {
    return std::string(base);
  }
  return std::string(base.substr(0, colon + 1)) + std::string(redacted) +
         std::string(base.substr(at));
}

/// Hides the secret parameters. Nothing where this isn't a list of parameters but perhaps the rest
/// of a password with a question mark.
std::optional<std::string> redact_query(std::string_view query) {
  std::string text;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view keyword = pair.substr(0, equals);
    if (is_secret_keyword(keyword)) {
      text += std::string(keyword) + "=" + std::string(redacted);
    } else if (pair.find('@') == std::string_view::npos) {
      text += pair;
    } else {
      return std::nullopt;
    }
    text += query.substr(end, 1);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return text;
}

std::optional<std::string> redact_uri(std::string_view uri) {
  const std::size_t start = uri.find("://") + 3;
  const std::size_t mark = std::min(uri.find('?'), uri.size());
  const auto base = redact_authority(uri.substr(start, mark - start));
  const auto query = redact_query(uri.substr(std::min(mark + 1, uri.size())));
  if (!base || !query) {
    return std::nullopt;
  }
  return std::string(uri.substr(0, start)) + *base + std::string(uri.substr(mark, 1)) + *query;
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Reads keyword = value pairs by the rules of libpq's documentation, "Keyword/Value Connection
/// Strings".
class KeywordReader {
 public:
  explicit KeywordReader(std::string_view text) : text_(text) {}

  /// The text with secrets hidden, or nothing where it can't be understood.
  std::optional<std::string> redact() {
    std::string out;
    for (skip_space(); at_ < text_.size(); skip_space()) {
      const std::string_view keyword = take_keyword();
      skip_space();
      if (keyword.empty() || at_ == text_.size() || text_[at_] != '=') {
        return std::nullopt;
      }
      ++at_;
      skip_space();
      const auto value = take_value();
      if (!value) {
        return std::nullopt;
      }
      out += (out.empty() ? "" : " ") + std::string(keyword) + "=" +
             std::string(is_secret_keyword(keyword) ? redacted : *value);
    }
    return out;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
  }

  std::string_view take_keyword() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '=' && !is_space(text_[at_])) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  /// The value as it is written, quotes included; nothing for a quote that doesn't end.
  std::optional<std::string_view> take_value() {
    const std::size_t start = at_;
    const bool quoted = at_ < text_.size() && text_[at_] == '\'';
    at_ += quoted ? 1 : 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (quoted && c == '\'') {
        ++at_;
        return text_.substr(start, at_ - start);
      } else if (!quoted && is_space(c)) {
        break;
      } else {
        ++at_;
      }
    }
    return quoted ? std::nullopt : std::optional(text_.substr(start, at_ - start));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string line(std::string_view path, std::string_view value) {
  YAML::Emitter quoted;
  quoted << YAML::DoubleQuoted << std::string(value);
  return std::string(path) + ": " + quoted.c_str();
}

std::string shown(const Loaded& loaded, std::string_view path, const std::string& value) {
  constexpr std::string_view kafka_prefix = "kafka.";
  if (loaded.secrets.find(path) != loaded.secrets.end()) {
    return std::string(redacted);
  }
  if (path == "postgres.url") {
    return redact_conninfo(value);
  }
  const bool secret =
      path.starts_with(kafka_prefix) && is_secret_property(path.substr(kafka_prefix.size()));
  return secret ? std::string(redacted) : value;
}

}  // namespace

std::string redact_conninfo(std::string_view conninfo) {
  if (conninfo.starts_with("postgresql://") || conninfo.starts_with("postgres://")) {
    return redact_uri(conninfo).value_or(std::string(redacted));
  }
  return KeywordReader(conninfo).redact().value_or(std::string(redacted));
}

bool is_secret_property(std::string_view name) {
  constexpr std::array<std::string_view, 7> parts{
      "password", "secret", "token", "jaas", "key.pem", "oauthbearer.config", "passphrase"};
  return contains_any(name, parts);
}

std::vector<std::string> describe(const Loaded& loaded) {
  std::vector<std::string> lines;
  for (const ValueKey& key : value_keys()) {
    if (const auto value = key.show(loaded.config)) {
      lines.push_back(line(key.path, shown(loaded, key.path, *value)));
    }
  }
  Config config = loaded.config;
  for (const MapKey& key : map_keys()) {
    for (const auto& [name, value] : key.entries(config)) {
      const std::string path = std::string(key.path) + "." + name;
      lines.push_back(line(path, shown(loaded, path, value)));
    }
  }
  return lines;
}

}  // namespace walpost::config
