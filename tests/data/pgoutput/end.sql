-- Closes a scenario: writes what the log itself says of its records (pg_walinspect), then the
-- messages the plugin made of them.
\o
select format('scenario %s', :'scenario');
select format('wal %s %s %s %s %s', record_type, xid, start_lsn, end_lsn,
              coalesce((extract(epoch from
                  substring(description from '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.?\d*')::timestamptz
                  - '2000-01-01 00:00:00+00') * 1000000)::bigint, 0))
from pg_get_wal_records_info(:'start', pg_current_wal_flush_lsn())
where resource_manager = 'Transaction' and record_type ~ 'COMMIT|ABORT|PREPARE'
   or resource_manager = 'LogicalMessage'
order by start_lsn;
select chr(get_byte(data, 0)) || ' ' || encode(data, 'hex')
from pg_logical_slot_get_binary_changes('golden', null, null, :options);
\o /dev/null
select pg_drop_replication_slot('golden');
\o
