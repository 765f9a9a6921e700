#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "golden.h"

namespace {

void write_scenarios(const golden::File& file, const std::filesystem::path& folder,
                     const std::string& prefix) {
  for (const auto& [name, scenario] : file) {
    int number = 0;
    for (const golden::Captured& captured : scenario.captured) {
      std::ofstream out(folder / (prefix + name + "_" + std::to_string(number++)),
                        std::ios::binary);
      out.exceptions(std::ios::failbit | std::ios::badbit);
      out << captured.bytes << std::flush;
    }
  }
}

}  // namespace

/// golden_corpus FOLDER: writes every captured message and frame to a file of its own in FOLDER.
int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fputs("usage: golden_corpus FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  write_scenarios(golden::messages(), folder, "message_");
  write_scenarios(golden::parallel(), folder, "message_");
  write_scenarios(golden::frames(), folder, "frame_");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "golden_corpus: %s\n", error.what());
  return 1;
}
