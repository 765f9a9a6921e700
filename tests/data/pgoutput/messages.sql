-- Every message of protocol versions 1 to 3. Each scenario's values are repeated in
-- tests/unit/pgoutput as what the decoder has to find.
\set two_phase false
\set v1 '''proto_version'', ''1'', ''publication_names'', ''golden'''
\set streaming '''proto_version'', ''2'', ''publication_names'', ''golden'', ''streaming'', ''on'', ''messages'', ''true'''
\set prepared '''proto_version'', ''3'', ''publication_names'', ''golden'', ''two_phase'', ''on'''
\set streamed_prepared '''proto_version'', ''3'', ''publication_names'', ''golden'', ''two_phase'', ''on'', ''streaming'', ''on'''
\set options :v1

\set scenario insert_text
\ir begin.sql
insert into kinds values (1, 'happy', 7, 12.50, 'h' || chr(233) || 'llo', '\x00ff');
\ir end.sql

\set scenario insert_nulls
\ir begin.sql
insert into kinds values (2, null, null, null, '', null);
\ir end.sql

\set scenario insert_binary
\set options :v1 ', ''binary'', ''true'''
\ir begin.sql
insert into kinds values (3, 'sad', 8, 1.25, 'hi', '\x00ff');
\ir end.sql
\set options :v1

\set scenario update_and_delete_keyed
\ir begin.sql
begin;
insert into keyed values (1, 'one');
update keyed set note = 'uno' where id = 1;
update keyed set id = 2 where id = 1;
delete from keyed where id = 2;
commit;
\ir end.sql

\set scenario update_and_delete_whole
\ir begin.sql
begin;
insert into whole values (1, 'one');
update whole set note = 'uno';
delete from whole;
commit;
\ir end.sql

\set scenario replica_identities
\ir begin.sql
begin;
insert into keyless values (1, 'none');
insert into indexed values (1, 'index');
commit;
\ir end.sql

\o /dev/null
insert into toasted values (1, repeat('x', 3000), 'before');
\set scenario unchanged_toast
\ir begin.sql
update toasted set small = 'after' where id = 1;
\ir end.sql

\set scenario update_turned_insert_by_a_row_filter
\set options '''proto_version'', ''1'', ''publication_names'', ''golden_filtered'''
\ir begin.sql
update toasted set id = 101 where id = 1;
\ir end.sql
\set options :v1

\set scenario truncate
\ir begin.sql
begin;
truncate keyed;
truncate keyed, whole restart identity cascade;
commit;
\ir end.sql

\set scenario logical_messages
\set options :v1 ', ''messages'', ''true'''
\ir begin.sql
select pg_logical_emit_message(false, 'loose', 'not bound');
begin;
select pg_logical_emit_message(true, 'bound', '\x00ff'::bytea);
commit;
\ir end.sql
\set options :v1

\o /dev/null
select pg_replication_origin_create('upstream');
select pg_replication_origin_session_setup('upstream');
\set scenario origin
\ir begin.sql
begin;
select pg_replication_origin_xact_setup('16/B374D848', '2024-05-06 07:08:09+00');
insert into keyed values (3, 'from elsewhere');
commit;
\ir end.sql
\o /dev/null
select pg_replication_origin_session_reset();

\set scenario partition_root
\ir begin.sql
insert into measured values ('2024-02-03', 21);
\ir end.sql

\set options :streaming
\set scenario streamed_commit
\ir begin.sql
begin;
select pg_logical_emit_message(true, 'bound', 'in a stream');
insert into kinds (id, mood, body) values (4, 'sad', 'streamed');
update kinds set id = 5 where id = 4;
delete from kinds where id = 5;
truncate keyless;
call fill();
insert into keyed values (6, 'second segment');
commit;
\ir end.sql

\set scenario streamed_abort_of_a_subtransaction
\ir begin.sql
begin;
insert into keyed values (7, 'kept');
savepoint undone;
insert into keyed values (8, 'undone');
call fill();
rollback to undone;
commit;
\ir end.sql

\set scenario streamed_abort
\ir begin.sql
begin;
insert into keyed values (9, 'undone');
call fill();
rollback;
insert into filler values ('');  -- a commit, so that the abort's record reaches the disk
\ir end.sql

\set two_phase true
\set options :prepared
\set scenario prepared_then_committed
\ir begin.sql
begin;
insert into keyed values (10, 'prepared');
prepare transaction 'golden gid 1';
commit prepared 'golden gid 1';
\ir end.sql

\set scenario prepared_then_rolled_back
\ir begin.sql
begin;
insert into keyed values (11, 'prepared');
prepare transaction 'golden gid 2';
rollback prepared 'golden gid 2';
\ir end.sql

\set options :streamed_prepared
\set scenario streamed_then_prepared
\ir begin.sql
begin;
insert into keyed values (12, 'streamed, prepared');
call fill();
prepare transaction 'golden gid 3';
commit prepared 'golden gid 3';
\ir end.sql
