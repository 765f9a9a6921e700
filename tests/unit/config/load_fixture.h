#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "walpost/config/load.h"

namespace walpost::config {

/// A folder of its own for each test, an environment under the test's control.
class LoadTest : public testing::Test {
 public:
  ~LoadTest() override { std::filesystem::remove_all(folder_); }

 protected:
  LoadTest() {
    std::string name = (std::filesystem::temp_directory_path() / "walpost-config-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("mkdtemp " + name);
    }
    folder_ = name;
  }

  std::string write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

  void file(const std::string& yaml) { command_line_.file = write("walpost.yaml", yaml); }

  [[nodiscard]] Loaded load_all() const {
    return load(command_line_, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    });
  }
  [[nodiscard]] Config config() const { return load_all().config; }

  /// The configuration of one YAML text.
  Config config_of(const std::string& yaml) {
    file(yaml);
    return config();
  }

  /// What is wrong, one line each, with the file's folder cut off.
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> lines;
    try {
      static_cast<void>(load_all());
    } catch (const InvalidConfig& invalid) {
      for (const Problem& problem : invalid.problems()) {
        std::string line = problem.to_string();
        const std::string folder = folder_.string() + "/";
        for (std::size_t at; (at = line.find(folder)) != std::string::npos;) {
          line.erase(at, folder.size());
        }
        lines.push_back(line);
      }
    }
    return lines;
  }
  std::vector<std::string> problems_of(const std::string& yaml) {
    file(yaml);
    return problems();
  }

  std::filesystem::path folder_;
  CommandLine command_line_;
  std::map<std::string, std::string> variables_;
};

}  // namespace walpost::config
