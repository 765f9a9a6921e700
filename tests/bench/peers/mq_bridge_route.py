"""Runs mq-bridge from a replication slot to a topic until it is killed.

usage: mq_bridge_route.py POSTGRES_URL SLOT PUBLICATION BOOTSTRAP TOPIC [BATCH_SIZE]

It has no outbox mapping: the value is the whole row as JSON, the key its own message id.
"""
import logging
import sys

from mq_bridge import Route, init_logging

url, slot, publication, bootstrap, topic, *batch_size = sys.argv[1:]
logging.basicConfig(level=logging.WARNING)
init_logging()
Route.from_config(
    {
        "input": {
            "postgres_cdc": {
                "url": url,
                "slot_name": slot,
                "create_slot": False,
                "publication": publication,
            }
        },
        "output": {"kafka": {"url": bootstrap, "topic": topic, "create_topic": False}},
        **{"batch_size": int(size) for size in batch_size},
    }
).run()
