#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "golden.h"
#include "pgoutput/decode.h"

/// Decodes a captured message that has to be an M; its views live as long as `from`.
template <typename M>
M decoded(const golden::Captured& from) {
  const pgoutput::Decoded result = pgoutput::decode(from.bytes, from.context);
  if (const auto* error = std::get_if<pgoutput::DecodeError>(&result)) {
    throw std::runtime_error(std::string(error->what) + " at " + std::to_string(error->offset));
  }
  return std::get<M>(std::get<pgoutput::Message>(result));
}

/// A row as the letters of its kinds, with the bytes of those that have any: {"t:1", "n"}.
inline std::vector<std::string> shown(const pgoutput::Tuple& row) {
  std::vector<std::string> values;
  for (const pgoutput::Value value : row) {
    std::string text(1, static_cast<char>(value.kind));
    if (value.kind == pgoutput::Value::Kind::text || value.kind == pgoutput::Value::Kind::binary) {
      text += ":" + std::string(value.bytes);
    }
    values.push_back(text);
  }
  return values;
}
