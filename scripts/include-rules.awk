# Which file may include what: the rooms' dependencies point one way,
#   cli -> config -> {postgres, kafka} -> relay -> outbox -> pgoutput
# and a library is known to the one room that is about it. Prints each breach as FILE:LINE: REASON.
#
#   awk -f scripts/include-rules.awk FILE...

BEGIN {
  allow("pgoutput", "pgoutput")
  allow("outbox", "outbox pgoutput")
  allow("relay", "relay outbox pgoutput")
  allow("postgres", "postgres relay outbox pgoutput")
  allow("kafka", "kafka relay outbox pgoutput")
  allow("webhook", "webhook relay outbox pgoutput")
  allow("observe", "observe relay outbox pgoutput")
  allow("config", "config webhook observe postgres kafka relay outbox pgoutput")
  allow("cli", "cli config webhook observe postgres kafka relay outbox pgoutput")

  # A header that matches the pattern belongs to these rooms only.
  only("^(libpq-fe|libpq/.*|postgres|pg_.*)\\.h$", "postgres")
  only("^(librdkafka/)?rdkafka.*\\.h$", "kafka")
  only("^yaml-cpp/", "config")
  only("^CLI/", "cli")
  only("^curl/", "webhook")
  only("^(prometheus/|httplib\\.h)", "observe")
  only("^(spdlog|fmt)/", "relay postgres kafka webhook observe config cli")
}

function allow(room, rooms) { allowed[room] = " " rooms " " }
function only(pattern, rooms) { owners[pattern] = " " rooms " " }

# The room a file is in; empty for tests and the like, which may include anything.
function room_of(file,  part) {
  split(file, part, "/")
  if (part[1] == "pgoutput" && (part[2] == "include" || part[2] == "src")) return "pgoutput"
  if (part[1] == "src") return part[2]
  if (part[1] == "include" && part[2] == "walpost") return part[3]
  return ""
}

function complain(reason) { print FILENAME ":" FNR ": " reason }

function check_own(header, room,  part, target) {
  if (header ~ /\.\.\//) complain("include by a path from include/ or by a name in the same folder: " header)
  if (header ~ /^(support|tests)\//) complain("product code includes a test: " header)
  split(header, part, "/")
  target = header ~ /^walpost\// ? part[2] : (header ~ /^pgoutput\// ? "pgoutput" : "")
  if (target != "" && index(allowed[room], " " target " ") == 0)
    complain("room " room " must not depend on room " target ": " header)
}

function check_library(header, room, quoted,  pattern) {
  if (room == "pgoutput" && header !~ (quoted ? "^(pgoutput/)?[a-z_]+\\.h$" : "^[a-z_]+$"))
    complain("pgoutput/ includes nothing but the C++ standard library: " header)
  for (pattern in owners)
    if (header ~ pattern && index(owners[pattern], " " room " ") == 0)
      complain(header " is for these rooms only:" owners[pattern])
}

FNR == 1 {
  room = room_of(FILENAME)
  if (room != "" && !(room in allowed)) complain("unknown room " room ": give it a place in scripts/include-rules.awk")
}

room in allowed && /^[ \t]*#[ \t]*include/ {
  header = $0
  sub(/^[^<"]*[<"]/, "", header)
  sub(/[>"].*/, "", header)
  quoted = $0 ~ /"/
  if (quoted) check_own(header, room)
  check_library(header, room, quoted)
}
