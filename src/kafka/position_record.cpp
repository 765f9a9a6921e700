#include "position_record.h"

#include <nlohmann/json.hpp>

namespace walpost::kafka {
namespace {

using nlohmann::json;
using pgoutput::Lsn;

constexpr int version = 1;

std::optional<Lsn> lsn_of(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return Lsn::parse(found->get_ref<const std::string&>());
}

// False if there is a half of it, or another thing under its name.
bool read_last(const json& object, std::optional<EventPlace>& last) {
  if (!object.contains("commit") && !object.contains("ordinal")) return true;
  const auto commit = lsn_of(object, "commit");
  const auto ordinal = object.find("ordinal");
  if (!commit || ordinal == object.end() || !ordinal->is_number_unsigned()) return false;
  last = EventPlace{*commit, ordinal->get<std::uint32_t>()};
  return true;
}

}  // namespace

std::string position_key(const std::string& system, const std::string& slot) {
  return system + "/" + slot;
}

std::string encode(const PositionRecord& position) {
  json object{{"version", version},
              {"confirmed", position.confirmed.to_string()},
              {"timeline", position.timeline}};
  if (position.last) {
    object["commit"] = position.last->commit.to_string();
    object["ordinal"] = position.last->ordinal;
  }
  return object.dump();
}

std::optional<PositionRecord> decode(std::string_view value) {
  const json object = json::parse(value, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto its_version = object.find("version");
  const auto timeline = object.find("timeline");
  const auto confirmed = lsn_of(object, "confirmed");
  if (its_version == object.end() || *its_version != version || !confirmed ||
      timeline == object.end() || !timeline->is_string()) {
    return std::nullopt;
  }
  PositionRecord position{*confirmed, std::nullopt, timeline->get<std::string>()};
  if (!read_last(object, position.last)) return std::nullopt;
  return position;
}

PositionRecord newest(const std::optional<PositionRecord>& former, const PositionRecord& next) {
  if (!former || former->timeline != next.timeline) return next;
  return {std::max(former->confirmed, next.confirmed), std::max(former->last, next.last),
          next.timeline};
}

bool covers(const PositionRecord& position, const outbox::Position& event) {
  if (event.commit_lsn < position.confirmed) return true;
  return position.last && EventPlace{event.commit_lsn, event.ordinal} <= *position.last;
}

}  // namespace walpost::kafka
