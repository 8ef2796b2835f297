-- name: decide
UPDATE job
   SET state = CASE WHEN :became = 'ready' AND NOT EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id) THEN 'blocked'
                    ELSE :became END,
       cancel_asked_ms = NULL, ended_ms = CASE WHEN :became IN ('done', 'rejected') THEN :now END, starts = 0,
       move = 'decide', actor = 'person', cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'unclear' AND attempt = :attempt
RETURNING id;

-- name: keep_decided
INSERT INTO result (job_id, attempt, value, sha256, at_ms)
SELECT id, attempt, :value, :sha256, :now FROM job WHERE id = :id AND state = 'unclear' AND attempt = :attempt
RETURNING job_id;

-- name: correct
UPDATE job
   SET state = CASE WHEN EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id) THEN 'ready' ELSE 'blocked' END,
       payload = :payload, ended_ms = NULL, failures = 0, starts = 0, error_class = NULL, error_text = NULL, cancel_asked_ms = NULL,
       move = 'correct', actor = 'person', cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'rejected' AND attempt = :attempt
RETURNING id;

-- name: revive
UPDATE job
   SET state = CASE WHEN EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id) THEN 'ready' ELSE 'blocked' END,
       ended_ms = NULL, failures = 0, starts = 0, cancel_asked_ms = NULL,
       move = 'revive', actor = 'person', cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'dead' AND attempt = :attempt
RETURNING id;

-- name: ask
UPDATE job
   SET cancel_asked_ms = coalesce(cancel_asked_ms, :now),
       move = 'ask', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state IN ('leased', 'gathering') AND attempt = :attempt
RETURNING state;

-- name: cancel
UPDATE job
   SET state = 'cancelled', ended_ms = :now,
       move = 'cancel', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state IN ('planned', 'blocked', 'ready', 'unclear') AND attempt = :attempt
RETURNING state;

-- name: stands
SELECT state, attempt FROM job WHERE id = :id;
