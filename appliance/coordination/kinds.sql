-- name: declare
INSERT INTO kind (kind, version, schema, pool, time_limit_ms, failures_max, backoff_ms)
VALUES (:kind, :version, :schema, :pool, :time_limit_ms, :failures_max, :backoff_ms)
    ON CONFLICT (kind) DO UPDATE
   SET version = excluded.version, schema = excluded.schema, pool = excluded.pool, time_limit_ms = excluded.time_limit_ms,
       failures_max = excluded.failures_max, backoff_ms = excluded.backoff_ms
 WHERE (version, schema, pool, time_limit_ms, failures_max, backoff_ms)
       IS NOT (excluded.version, excluded.schema, excluded.pool, excluded.time_limit_ms, excluded.failures_max, excluded.backoff_ms);

-- name: known
-- scan: one row a kind
SELECT kind, version, schema, pool, time_limit_ms, failures_max, backoff_ms FROM kind ORDER BY kind;
