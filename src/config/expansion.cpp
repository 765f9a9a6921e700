#include "expansion.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "file_content.h"

namespace walpost::config {
namespace {

constexpr std::string_view file_prefix = "file:";

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

void strip_newline(std::string& text) {
  if (text.ends_with('\n')) {
    text.pop_back();
    if (text.ends_with('\r')) {
      text.pop_back();
    }
  }
}

void append_file(const std::string& path, Expansion& expansion) {
  expansion.from_file = true;
  try {
    std::string content = read_file(path);
    strip_newline(content);
    if (content.find('\0') != std::string::npos) {
      expansion.problems.push_back("the file " + path + " holds a NUL byte, which no value may");
      return;
    }
    expansion.text += content;
  } catch (const std::system_error& failure) {
    expansion.problems.push_back("cannot read the file " + path + ": " + failure.code().message());
  }
}

void append_variable(std::string_view reference, const Environment& environment,
                     Expansion& expansion) {
  const std::size_t mark = reference.find(":-");
  const std::string name(reference.substr(0, mark));
  if (!is_variable_name(name)) {
    expansion.problems.push_back("${" + std::string(reference) +
                                 "} names no variable; write ${NAME}, ${NAME:-default} or "
                                 "${file:/path}, and $$ for a literal $");
    return;
  }
  const std::optional<std::string> value = environment(name);
  if (mark != std::string_view::npos) {
    expansion.text += value && !value->empty() ? *value : std::string(reference.substr(mark + 2));
  } else if (value) {
    expansion.text += *value;
  } else {
    expansion.problems.push_back("the environment variable " + name +
                                 " is not set; set it, or give a default as in ${" + name +
                                 ":-default}");
  }
}

/// Expands the reference that starts with "${" at `at`; returns where the text goes on.
std::size_t append_reference(std::string_view text, std::size_t at, const Environment& environment,
                             Expansion& expansion) {
  const std::size_t end = text.find('}', at);
  if (end == std::string_view::npos) {
    expansion.problems.emplace_back("a ${ has no closing }; write $$ for a literal $");
    return text.size();
  }
  const std::string_view reference = text.substr(at + 2, end - at - 2);
  if (reference.find("${") != std::string_view::npos) {
    expansion.problems.emplace_back("a ${...} can't stand inside another one");
    return text.size();
  }
  if (reference.starts_with(file_prefix)) {
    append_file(std::string(reference.substr(file_prefix.size())), expansion);
  } else {
    append_variable(reference, environment, expansion);
  }
  return end + 1;
}

}  // namespace

Expansion expand(std::string_view text, const Environment& environment) {
  Expansion expansion;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("$$")) {
      expansion.text += '$';
      at += 2;
    } else if (rest.starts_with("${")) {
      at = append_reference(text, at, environment, expansion);
    } else {
      expansion.text += text[at++];
    }
  }
  return expansion;
}

}  // namespace walpost::config
