"""Captures the frames of a replication stream as they are on the socket.

No client library shows them (pg_recvlogical strips them), so this speaks the few messages of the
frontend/backend protocol that are needed. Called by capture.sh with the socket's folder.
"""
import socket
import struct
import subprocess
import sys

FOLDER = sys.argv[1]
INSERT = "insert into keyed values (20, 'framed')"
MICROS_NOW = "(extract(epoch from clock_timestamp() - '2000-01-01 00:00:00+00') * 1000000)::bigint"


def sql(query):
    arguments = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", FOLDER, "-U", "postgres",
                 "-d", "postgres", "-c", query]
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.strip()


def to_int(lsn):
    high, low = lsn.split("/")
    return int(high, 16) << 32 | int(low, 16)


class Connection:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(FOLDER + "/.s.PGSQL.5432")
        options = (b"user\0postgres\0database\0postgres\0replication\0database\0"
                   b"wal_sender_timeout\0" b"2000\0\0")
        self.socket.sendall(struct.pack(">ii", 8 + len(options), 196608) + options)
        while self.receive()[0] != b"Z":
            pass

    def exactly(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise EOFError("the server closed the connection")
            data += more
        return data

    def receive(self):
        kind, size = struct.unpack(">ci", self.exactly(5))
        body = self.exactly(size - 4)
        if kind == b"E":
            raise RuntimeError(body)
        return kind, body

    def send(self, kind, body):
        self.socket.sendall(kind + struct.pack(">i", 4 + len(body)) + body)

    def frame(self):
        kind, body = self.receive()
        if kind != b"d":
            raise RuntimeError("no CopyData: %r" % kind)
        return body


def show(frame):
    print(chr(frame[0]), frame.hex())


def frames_until(connection, last):
    while True:
        frame = connection.frame()
        show(frame)
        if last(frame):
            return


def main():
    sql("select pg_create_logical_replication_slot('framed', 'pgoutput')")
    print("# Made by capture.sh from frames.py. Lines: scenario NAME; fact NAME VALUE; otherwise a")
    print("# frame's type letter and its bytes, as they were in CopyData ('r': sent by the client).")
    print("# server:", sql("show server_version"))
    print("scenario start")
    print("fact confirmed_flush", sql("select confirmed_flush_lsn from pg_replication_slots"))
    print("fact before", sql("select " + MICROS_NOW))
    connection = Connection()
    connection.send(b"Q", b"START_REPLICATION SLOT framed LOGICAL 0/0 "
                          b"(proto_version '1', publication_names 'golden')\0")
    while connection.receive()[0] != b"W":
        pass
    frames_until(connection, lambda frame: frame[:1] == b"k")

    print("scenario transaction")
    start = sql("select pg_current_wal_insert_lsn()")
    sql(INSERT)
    print("fact commit_end", sql(
        "select end_lsn from pg_get_wal_records_info('%s', pg_current_wal_flush_lsn()) "
        "where record_type = 'COMMIT'" % start))
    frames_until(connection, lambda frame: frame[:1] == b"w" and frame[25:26] == b"C")

    print("scenario status")
    flushed = sql("select pg_current_wal_flush_lsn()")
    written, applied = to_int(flushed) + 2, to_int(flushed) + 1
    status = struct.pack(">cQQQq?", b"r", written, to_int(flushed), applied, 123456789, True)
    connection.send(b"d", status)
    show(status)
    frames_until(connection, lambda frame: frame[:1] == b"k" and frame[17:] == b"\0"
                 and to_int(flushed) <= struct.unpack(">Q", frame[1:9])[0])
    print("fact after", sql("select " + MICROS_NOW))
    print("fact confirmed_flush", sql("select confirmed_flush_lsn from pg_replication_slots"))
    print("fact flushed", flushed)

    print("scenario silence")  # half of wal_sender_timeout without a word from the client
    frames_until(connection, lambda frame: frame[:1] == b"k" and frame[17:] == b"\1")
    connection.socket.close()


main()
