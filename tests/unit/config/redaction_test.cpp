#include "walpost/config/redaction.h"

#include "load_fixture.h"

namespace walpost::config {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

struct ConninfoCase {
  const char* rule;
  const char* conninfo;
  const char* redacted;
};

void PrintTo(const ConninfoCase& example, std::ostream* out) {
  *out << example.conninfo;
}

class ConninfoTest : public testing::TestWithParam<ConninfoCase> {};

TEST_P(ConninfoTest, LosesItsSecretsAndNothingElse) {
  EXPECT_EQ(redact_conninfo(GetParam().conninfo), GetParam().redacted);
}

std::string rule(const testing::TestParamInfo<ConninfoCase>& info) {
  return info.param.rule;
}

// The forms are those of PostgreSQL's documentation, "Connection Strings".
INSTANTIATE_TEST_SUITE_P(
    Uri, ConninfoTest,
    testing::Values(
        ConninfoCase{"Empty", "postgresql:///", "postgresql:///"},
        ConninfoCase{"NoPassword", "postgresql://ann@h:5432/db?connect_timeout=10",
                     "postgresql://ann@h:5432/db?connect_timeout=10"},
        ConninfoCase{"NoUser", "postgresql://h:5432/db", "postgresql://h:5432/db"},
        ConninfoCase{"Password", "postgresql://ann:s3cret@h/db", "postgresql://ann:***@h/db"},
        ConninfoCase{"ShortScheme", "postgres://ann:s3cret@h", "postgres://ann:***@h"},
        ConninfoCase{"ColonInPassword", "postgresql://ann:a:b@h/db", "postgresql://ann:***@h/db"},
        ConninfoCase{"SeveralHosts", "postgresql://ann:s@h1:1,h2:2/db",
                     "postgresql://ann:***@h1:1,h2:2/db"},
        ConninfoCase{"PasswordParameter", "postgresql://h/db?user=ann&password=s&sslmode=require",
                     "postgresql://h/db?user=ann&password=***&sslmode=require"},
        ConninfoCase{"SslPassword", "postgresql://ann:s@h/db?sslpassword=t",
                     "postgresql://ann:***@h/db?sslpassword=***"},
        ConninfoCase{"EncodedKeyword", "postgresql://h/db?p%61ssword=s",
                     "postgresql://h/db?p%61ssword=***"},
        ConninfoCase{"UnencodedAt", "postgresql://ann:a@b@h/db", "***"},
        ConninfoCase{"UnencodedSlash", "postgresql://ann:a/b@h/db", "***"},
        ConninfoCase{"UnencodedQuestionMark", "postgresql://ann:a?b@h/db", "***"},
        ConninfoCase{"UnencodedQuestionMarkAndAt", "postgresql://ann:a@b?c=d@h/db", "***"}),
    rule);

INSTANTIATE_TEST_SUITE_P(
    KeyValue, ConninfoTest,
    testing::Values(
        ConninfoCase{"Empty", "", ""},
        ConninfoCase{"NoPassword", "host=h dbname=db", "host=h dbname=db"},
        ConninfoCase{"Password", "host=h password=s user=u", "host=h password=*** user=u"},
        ConninfoCase{"SpacesAroundEquals", "password = s host = h", "password=*** host=h"},
        ConninfoCase{"QuotedPassword", "password='a b' host=h", "password=*** host=h"},
        ConninfoCase{"QuoteInPassword", "password='a\\' b' host=h", "password=*** host=h"},
        ConninfoCase{"EscapedSpace", "password=a\\ b host=h", "password=*** host=h"},
        ConninfoCase{"QuotedOther", "application_name='a b' password=s",
                     "application_name='a b' password=***"},
        ConninfoCase{"EmptyPassword", "password= host=h", "password=***"},
        ConninfoCase{"OAuthSecret", "oauth_client_secret=s host=h",
                     "oauth_client_secret=*** host=h"},
        ConninfoCase{"ScramKey", "scram_client_key=s", "scram_client_key=***"},
        ConninfoCase{"OpenQuote", "host=h password='s", "***"},
        ConninfoCase{"NotPairs", "s3cret", "***"}),
    rule);

TEST(SecretPropertyTest, IsToldByItsName) {
  for (const char* name :
       {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
        "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config", "sasl.jaas.config"}) {
    EXPECT_TRUE(is_secret_property(name)) << name;
  }
  for (const char* name : {"bootstrap.servers", "sasl.username", "ssl.key.location", "linger.ms",
                           "ssl.ca.pem", "security.protocol"}) {
    EXPECT_FALSE(is_secret_property(name)) << name;
  }
}

TEST_F(LoadTest, TheDescriptionHoldsEverySettingAndNoSecret) {
  file(
      "postgres: {url: 'postgresql://ann:hunter2@h/db'}\n"
      "kafka: {sasl.password: hunter2, linger.ms: 5}\n"
      "route: {headers: {token: '${file:" +
      write("token", "hunter2\n") +
      "}', plain: 'a\"b'}, create_topics: {partitions: 3, "
      "replication: 2}}\n");
  const std::vector<std::string> lines = describe(load_all());
  EXPECT_THAT(lines, Each(Not(HasSubstr("hunter2"))));
  for (const char* line : {R"(postgres.url: "postgresql://ann:***@h/db")",
                           R"(postgres.slot: "walpost")",
                           R"(postgres.publication: "walpost")",
                           R"(postgres.connect_timeout: "10000ms")",
                           R"(postgres.read_timeout: "120000ms")",
                           R"(outbox.tombstones: "false")",
                           R"(route.topic: "outbox.event.{aggregate_type}")",
                           R"(route.key: "{aggregate_id}")",
                           R"(route.format: "raw")",
                           R"(route.headers.token: "***")",
                           R"(route.headers.plain: "a\"b")",
                           R"(route.create_topics.partitions: "3")",
                           R"(route.create_topics.replication: "2")",
                           R"(delivery.guarantee: "at_least_once")",
                           R"(delivery.transaction_interval: "100ms")",
                           R"(delivery.on_poison: "stop")",
                           R"(delivery.max_dead_letters: "1000")",
                           R"(delivery.drain_timeout: "25000ms")",
                           R"(position: "none")",
                           R"(limits.in_flight_bytes: "8388608")",
                           R"(limits.in_flight_events: "100000")",
                           R"(log.level: "info")",
                           R"(log.format: "text")",
                           R"(kafka.bootstrap.servers: "localhost:9092")",
                           R"(kafka.linger.ms: "5")",
                           R"(kafka.sasl.password: "***")"}) {
    EXPECT_THAT(lines, Contains(line));
  }
  EXPECT_EQ(lines.size(), 26U);
}

TEST_F(LoadTest, AValueThatWinsOverASecretIsShown) {
  file("postgres: {url: '${file:" + write("url", "host=secret") + "}'}");
  EXPECT_THAT(describe(load_all()), Contains(R"(postgres.url: "***")"));
  command_line_.postgres_url = "host=public";
  EXPECT_THAT(describe(load_all()), Contains(R"(postgres.url: "host=public")"));
}

}  // namespace
}  // namespace walpost::config
