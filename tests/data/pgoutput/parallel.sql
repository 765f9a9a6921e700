-- Protocol version 4: with streaming 'parallel' a stream abort carries its position and time.
\set two_phase false
\set options '''proto_version'', ''4'', ''publication_names'', ''golden'', ''streaming'', ''parallel'''

\set scenario parallel_abort_of_a_subtransaction
\ir begin.sql
begin;
insert into keyed values (7, 'kept');
savepoint undone;
insert into keyed values (8, 'undone');
call fill();
rollback to undone;
commit;
\ir end.sql

\set scenario parallel_abort
\ir begin.sql
begin;
insert into keyed values (9, 'undone');
call fill();
rollback;
insert into filler values ('');  -- a commit, so that the abort's record reaches the disk
\ir end.sql
