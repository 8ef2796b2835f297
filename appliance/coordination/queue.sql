-- name: submit
-- unfenced: the row comes into being
INSERT INTO job (kind, work_id, version, round, state, rank, due_ms, priority, schema, payload, source, correlation,
                 parent_id, failures_max, submitted_ms, move, actor, cause, moved_ms)
SELECT kind.kind, :work_id, coalesce(:version, kind.version),
       CASE WHEN :again THEN coalesce((SELECT max(round) + 1 FROM (
              SELECT round FROM job WHERE kind = :kind AND work_id = :work_id AND version = coalesce(:version, kind.version)
              UNION ALL
              SELECT round FROM past WHERE kind = :kind AND work_id = :work_id AND version = coalesce(:version, kind.version))), 0)
            ELSE 0 END,
       CASE WHEN :due_ms > :now THEN 'planned' ELSE 'ready' END,
       :due_ms - :priority * :head_start_ms, :due_ms, :priority, kind.schema, :payload, :source, :correlation,
       :parent_id, kind.failures_max, :now, 'submit', :actor, :cause, :now
  FROM kind
 WHERE kind.kind = :kind
   AND (:again OR :version IS NOT NULL
        OR NOT EXISTS (SELECT 1 FROM job AS old WHERE old.kind = :kind AND old.work_id = :work_id))
   AND (:again OR NOT EXISTS (SELECT 1 FROM past WHERE past.kind = :kind AND past.work_id = :work_id
                                 AND (:version IS NULL OR past.version = :version)))
    ON CONFLICT (kind, work_id, version, round) DO NOTHING
RETURNING id, state;

-- name: existing
SELECT id, state FROM job
 WHERE kind = :kind AND work_id = :work_id AND version = coalesce(:version, version)
 ORDER BY version DESC, round DESC LIMIT 1;

-- name: past
SELECT job_id, state FROM past
 WHERE kind = :kind AND work_id = :work_id AND version = coalesce(:version, version)
 ORDER BY version DESC, round DESC LIMIT 1;

-- name: ripen
-- unfenced: nobody holds a planned job
UPDATE job
   SET state = CASE WHEN EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id) THEN 'ready' ELSE 'blocked' END,
       move = 'ripen', actor = :actor, cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE state = 'planned'
   AND id IN (SELECT due.id FROM job AS due WHERE due.state = 'planned' AND due.due_ms <= :now ORDER BY due.due_ms LIMIT :most)
RETURNING id;

-- name: unblock
-- unfenced: nobody holds a blocked job
UPDATE job
   SET state = 'ready', move = 'unblock', actor = :actor, cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'blocked' AND EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id)
RETURNING id;

-- name: claim
-- unfenced: nobody holds a ready job, the fence is made here
UPDATE job
   SET state = 'leased', attempt = attempt + 1, holder = :holder, started_ms = NULL,
       move = 'claim', actor = 'worker', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE state = 'ready'
   AND id IN (SELECT first.id FROM json_each(:reads) AS reads CROSS JOIN job AS first
               WHERE first.id IN (SELECT each.id FROM job AS each
                                   WHERE each.state = 'ready' AND each.kind = reads.value ->> 0
                                     AND each.version = reads.value ->> 1 AND each.schema = reads.value ->> 2
                                   ORDER BY each.rank LIMIT :most)
               ORDER BY first.rank LIMIT :most)
RETURNING rank, id, attempt, kind, version, failures, failures_max, payload;

-- name: waits
-- Whether there is anything that a claim would find now: a look without the turn.
SELECT EXISTS (SELECT 1 FROM json_each(:reads) AS reads CROSS JOIN job
                WHERE job.state = 'ready' AND job.kind = reads.value ->> 0 AND job.version = reads.value ->> 1
                  AND job.schema = reads.value ->> 2)
    OR EXISTS (SELECT 1 FROM json_each(:reads) AS reads CROSS JOIN part
                WHERE part.state = 'ready' AND part.kind = reads.value ->> 0 AND part.version = reads.value ->> 1
                  AND part.schema = reads.value ->> 2)
    OR EXISTS (SELECT 1 FROM json_each(:reads) AS reads CROSS JOIN split
                WHERE split.state = 'ready' AND split.kind = reads.value ->> 0 AND split.version = reads.value ->> 1
                  AND split.schema = reads.value ->> 2)
    OR EXISTS (SELECT 1 FROM job WHERE state = 'planned' AND due_ms <= :now)
    OR EXISTS (SELECT 1 FROM part WHERE state = 'planned' AND due_ms <= :now);

-- name: next_due
SELECT min(due_ms) FROM (SELECT min(due_ms) AS due_ms FROM job WHERE state = 'planned'
                         UNION ALL SELECT min(due_ms) FROM part WHERE state = 'planned');
