-- Opens a scenario: a slot of its own, and the place in the log where its records start.
\o /dev/null
select pg_create_logical_replication_slot('golden', 'pgoutput', false, :two_phase);
select pg_current_wal_insert_lsn() as start \gset
