-- The object identifiers the messages refer to.
select 'scenario catalogue';
select format('fact %s %s', relname, oid) from pg_class
where relname in ('kinds', 'keyed', 'whole', 'keyless', 'indexed', 'toasted', 'measured')
order by relname;
select format('fact %s %s', typname, oid) from pg_type where typname in ('mood', 'positive')
order by typname;
