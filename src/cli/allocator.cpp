// How jemalloc treats this process (jemalloc(3), TUNING). Records are freed where they were
// allocated, on the relay's thread, so that one arena is no bottleneck and several only hold memory
// apart; what a burst has used goes back to the system within half a second. Resident memory in a
// backlog of small records: 17 MB instead of 50, at the same user time.
extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)
extern const char* const malloc_conf;
const char* const malloc_conf = "narenas:1,dirty_decay_ms:500,muzzy_decay_ms:0";
}
