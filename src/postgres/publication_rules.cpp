#include <spdlog/fmt/fmt.h>

#include "preflight.h"
#include "quoting.h"

namespace walpost::postgres {

namespace {

using Level = relay::Finding::Level;

// Enough to recognise what is meant; a publication of all tables may have thousands.
constexpr std::size_t tables_named = 5;

std::string join(const std::vector<std::string>& names) {
  std::string joined;
  for (std::size_t i = 0; i < names.size() && i < tables_named; ++i) {
    joined += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > tables_named)
    joined += fmt::format(" and {} more", names.size() - tables_named);
  return joined;
}

class PublicationRules {
 public:
  PublicationRules(const PublicationFacts& publication, const Options& options,
                   const Expectations& expectations, Findings& findings)
      : publication_(publication),
        expectations_(expectations),
        name_(options.publication),
        subject_("publication " + options.publication),
        findings_(findings) {}

  void check() {
    const std::size_t before = findings_.size();
    operations();
    if (publication_.tables.empty()) {
      add(Level::fail, subject_, "it publishes no table",
          "ALTER PUBLICATION " + quote_identifier(name_) + " ADD TABLE the outbox table");
    }
    for (const TableFacts& table : publication_.tables) check_table(table);
    report_foreign_tables();
    if (findings_.size() == before) {
      add(Level::pass, subject_, fmt::format("{} outbox table(s)", publication_.tables.size()), "");
    }
  }

 private:
  void add(Level level, std::string subject, std::string what, std::string mend) {
    findings_.push_back({level, std::move(subject), std::move(what), std::move(mend)});
  }

  [[nodiscard]] std::string set_option(std::string_view option) const {
    return fmt::format("ALTER PUBLICATION {} SET ({})", quote_identifier(name_), option);
  }

  // Changes of transactions that are open while a publication is altered are on either side of it.
  [[nodiscard]] std::string under_lock(const TableFacts& table,
                                       const std::string& statements) const {
    return fmt::format("BEGIN; LOCK TABLE {}.{} IN SHARE ROW EXCLUSIVE MODE; {}; COMMIT",
                       quote_identifier(table.schema), quote_identifier(table.table), statements);
  }

  [[nodiscard]] std::string add_again(const TableFacts& table) const {
    const TableReference reference{table.schema, table.table};
    return under_lock(table,
                      fmt::format("ALTER PUBLICATION {0} DROP TABLE {1}; ALTER PUBLICATION {0} ADD "
                                  "TABLE {1}",
                                  quote_identifier(name_), reference.sql()));
  }

  void operations() {
    if (!publication_.inserts) {
      add(Level::fail, subject_, "it doesn't publish inserts: every event would be skipped",
          set_option("publish = 'insert'"));
    }
    if (publication_.others) {
      add(Level::warn, subject_,
          "it publishes more than inserts: updates, deletes and truncates are sent here for "
          "nothing",
          set_option("publish = 'insert'"));
    }
  }

  void check_table(const TableFacts& table) {
    const std::string subject = fmt::format("table {}.{}", table.schema, table.table);
    if (!table.permanent) {
      add(Level::fail, subject, "it is UNLOGGED or temporary: its rows are in no WAL",
          fmt::format("ALTER TABLE {}.{} SET LOGGED", quote_identifier(table.schema),
                      quote_identifier(table.table)));
    }
    if (!table.partitions_without_wal.empty()) {
      add(Level::fail, subject,
          "rows of these partitions are in no WAL, as they are unlogged or foreign tables: " +
              join(table.partitions_without_wal),
          "ALTER TABLE the partition SET LOGGED, or detach it");
    }
    if (!table.row_filter.empty()) {
      add(Level::warn, subject, "rows that its row filter doesn't match are never published",
          "nothing, if that is meant; else " + add_again(table));
    }
    if (table.partition && !publication_.via_root) {
      add(Level::warn, subject,
          "partitions are published under their own names, not the table's; {table} in a template "
          "is the partition",
          under_lock(table, set_option("publish_via_partition_root = true")));
    }
    check_columns(table, subject);
  }

  void check_columns(const TableFacts& table, const std::string& subject) {
    outbox::TableShape shape{{table.schema, table.table}, {}};
    outbox::TableShape whole = shape;
    std::vector<std::string> left_out;
    for (const ColumnFacts& column : table.columns) {
      whole.columns.push_back({column.name, column.type});
      if (column.published) {
        shape.columns.push_back({column.name, column.type});
      } else {
        left_out.push_back(column.name);
      }
    }
    try {
      const outbox::TableMapping mapping(std::move(shape), expectations_.mapping, 0);
      if (!left_out.empty()) {
        add(Level::warn, subject, "columns that aren't published: " + join(left_out),
            "nothing, if that is meant; a column list is taken away by: " + add_again(table));
      }
      expectations_.router.verify(mapping);
    } catch (const outbox::UnmappableTable& error) {
      unmappable(table, subject, error, std::move(whole), left_out);
    } catch (const outbox::TemplateError& error) {
      add(Level::fail, subject, error.what(),
          "name a column that the table has in the templates under route, or publish the column");
    }
  }

  void unmappable(const TableFacts& table, const std::string& subject,
                  const outbox::UnmappableTable& error, outbox::TableShape whole,
                  const std::vector<std::string>& left_out) {
    if (!left_out.empty() && is_outbox(std::move(whole))) {
      add(Level::fail, subject,
          "columns that are needed aren't published, by a column list or because they are "
          "generated: " +
              join(left_out),
          add_again(table));
      return;
    }
    if (publication_.all_tables || publication_.whole_schemas) {
      foreign_.push_back(table.schema + "." + table.table);
      return;
    }
    add(Level::fail, subject_, error.what(), error.mend());
  }

  [[nodiscard]] bool is_outbox(outbox::TableShape shape) const {
    try {
      const outbox::TableMapping mapping(std::move(shape), expectations_.mapping, 0);
      return true;
    } catch (const outbox::UnmappableTable&) {
      return false;
    }
  }

  void report_foreign_tables() {
    if (foreign_.empty()) return;
    add(Level::fail, subject_,
        fmt::format("it is FOR {} and so publishes {} table(s) that are no outbox: {}",
                    publication_.all_tables ? "ALL TABLES" : "TABLES IN SCHEMA", foreign_.size(),
                    join(foreign_)),
        "make a publication of the outbox tables alone: name a new one in postgres.publication and "
        "a new slot in postgres.slot, then walpost init");
  }

  const PublicationFacts& publication_;
  const Expectations& expectations_;
  const std::string& name_;
  std::string subject_;
  Findings& findings_;
  std::vector<std::string> foreign_;
};

}  // namespace

void check_publication(const std::optional<PublicationFacts>& publication, const Options& options,
                       const Expectations& expectations, Findings& findings) {
  if (publication) {
    PublicationRules(*publication, options, expectations, findings).check();
    return;
  }
  findings.push_back({Level::fail, "publication " + options.publication, "it does not exist",
                      "name the right one in postgres.publication; or, if there is no slot yet, "
                      "walpost init (a slot older than its publication can't be read)"});
}

}  // namespace walpost::postgres
