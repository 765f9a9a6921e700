-- The order service of scripts/demo: what an application does to publish events with walpost. It writes
-- its own table and the outbox in one transaction, and knows nothing of Kafka.
\set ON_ERROR_STOP on
\o /dev/null

CREATE TABLE orders (id text PRIMARY KEY, customer text, cents int, status text);

CREATE FUNCTION place_order(id text, customer text, cents int) RETURNS void BEGIN ATOMIC
  INSERT INTO orders VALUES (id, customer, cents, 'placed');
  INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload, headers)
  VALUES ('order', id, 'order.placed', jsonb_build_object('customer', customer, 'cents', cents),
          jsonb_build_object('source', 'demo'));
END;

CREATE FUNCTION pay_order(id text) RETURNS void BEGIN ATOMIC
  UPDATE orders SET status = 'paid' WHERE orders.id = pay_order.id;
  INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload)
  VALUES ('order', id, 'order.paid', jsonb_build_object('status', 'paid'));
END;

BEGIN; SELECT place_order('order-1', 'Ada', 4200);    COMMIT;
BEGIN; SELECT place_order('order-2', 'Grace', 1599);  COMMIT;
BEGIN; SELECT place_order('order-3', 'Edsger', 870);  COMMIT;
BEGIN; SELECT pay_order('order-1');                   COMMIT;

-- The card is declined: no order, and no event of one.
BEGIN; SELECT place_order('order-4', 'Mallory', 999900); ROLLBACK;

-- The extra is taken out again by a savepoint; the rest of the transaction stays.
BEGIN;
SELECT place_order('order-5', 'Barbara', 2350);
SAVEPOINT extra;
SELECT place_order('order-6', 'Barbara', 12000);
ROLLBACK TO extra;
SELECT place_order('order-7', 'Barbara', 640);
COMMIT;

BEGIN; SELECT pay_order('order-3');                   COMMIT;
BEGIN; SELECT pay_order('order-5');                   COMMIT;
BEGIN; SELECT place_order('order-8', 'Tony', 3100); SELECT pay_order('order-8'); COMMIT;
BEGIN; SELECT place_order('order-9', 'Mallory', 1);   ROLLBACK;
