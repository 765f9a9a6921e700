-- What the scenarios write to.
create extension pg_walinspect;

create type mood as enum ('sad', 'happy');
create domain positive as integer check (value > 0);
create table kinds (
  id integer primary key,
  mood mood,
  amount positive,
  price numeric(10, 2),
  body text,
  raw bytea);
create table keyed (id integer primary key, note text);
create table whole (id integer, note text);
alter table whole replica identity full;
create table keyless (id integer, note varchar(20));
alter table keyless replica identity nothing;
create table indexed (id integer not null, note text);
create unique index indexed_id on indexed (id);
alter table indexed replica identity using index indexed_id;
create table toasted (id integer primary key, big text, small text);
alter table toasted alter big set storage external;
create table measured (day date not null, degrees integer) partition by range (day);
create table measured_2024 partition of measured for values from ('2024-01-01') to ('2025-01-01');

create publication golden
  for table kinds, keyed, whole, keyless, indexed, toasted, measured
  with (publish_via_partition_root = true);
create publication golden_filtered for table toasted where (id > 100);

-- In no publication: fills the server's memory so that it streams the small published rows.
create table filler (data bytea);
alter table filler alter data set storage plain;
create procedure fill() language sql as
  $$ insert into filler select decode(repeat('00', 8000), 'hex') from generate_series(1, 12) $$;
