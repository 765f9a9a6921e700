#pragma once

#include <cstddef>

namespace walpost::micro {

/// How often the calling thread has asked for memory since it began: operator new in all its forms,
/// malloc and its kin, whoever in the process calls them.
[[nodiscard]] std::size_t allocations();

}  // namespace walpost::micro
