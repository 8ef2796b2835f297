-- name: keep_result
-- The result of an attempt that still stands; nothing for a late one.
INSERT INTO result (job_id, attempt, value, sha256, at_ms)
SELECT id, attempt, :value, :sha256, :now FROM job WHERE id = :id AND state = 'leased' AND attempt = :attempt
RETURNING job_id, attempt;

-- name: finish
-- Each (id, attempt, started) of a list whose attempt still stands.
UPDATE job
   SET state = 'done', holder = NULL, starts = 0, started_ms = landing.value ->> 2, ended_ms = :now, error_class = NULL, error_text = NULL,
       move = 'finish', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
  FROM json_each(:landings) AS landing
 WHERE job.id = landing.value ->> 0 AND job.state = 'leased' AND job.attempt = landing.value ->> 1
RETURNING id;

-- name: retry
UPDATE job
   SET state = CASE WHEN :due_ms > :now THEN 'planned' WHEN EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id) THEN 'ready' ELSE 'planned' END,
       holder = NULL, failures = failures + 1, starts = 0, started_ms = :started_ms,
       due_ms = max(due_ms, :due_ms), rank = rank + max(0, :due_ms - due_ms),
       error_class = :error_class, error_text = :error_text,
       move = 'retry', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = :stands AND attempt = :attempt AND failures + 1 < failures_max
RETURNING id;

-- name: bury
UPDATE job
   SET state = 'dead', holder = NULL, failures = failures + 1, starts = 0, started_ms = :started_ms, ended_ms = :now,
       error_class = :error_class, error_text = :error_text,
       move = 'bury', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = :stands AND attempt = :attempt AND failures + 1 >= failures_max
RETURNING id;

-- name: snooze
UPDATE job
   SET state = 'planned', holder = NULL, starts = 0, started_ms = :started_ms, due_ms = :due_ms,
       rank = :due_ms - priority * :head_start_ms,
       move = 'snooze', actor = 'holder', cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'leased' AND attempt = :attempt AND :due_ms - submitted_ms <= :snoozed_ms_max
RETURNING id;

-- name: release
UPDATE job
   SET state = CASE WHEN EXISTS (SELECT 1 FROM may_start WHERE may_start.id = job.id) THEN 'ready' ELSE 'blocked' END,
       holder = NULL, starts = starts + :started, started_ms = :started_ms,
       move = 'release', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'leased' AND attempt = :attempt AND starts + :started < :starts_max
RETURNING id;

-- name: doubt
UPDATE job
   SET state = 'unclear', holder = NULL, starts = starts + :started, started_ms = :started_ms,
       error_class = :error_class, error_text = :error_text,
       move = 'doubt', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = :stands AND attempt = :attempt
RETURNING id;

-- name: reject
UPDATE job
   SET state = 'rejected', holder = NULL, starts = 0, started_ms = :started_ms, ended_ms = :now,
       error_class = 'rejected', error_text = :error_text,
       move = 'reject', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = :stands AND attempt = :attempt
RETURNING id;

-- name: stop
UPDATE job
   SET state = 'cancelled', holder = NULL, starts = starts + :started, started_ms = :started_ms, ended_ms = :now,
       move = 'stop', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = :stands AND attempt = :attempt AND cancel_asked_ms IS NOT NULL
RETURNING id;

-- name: held
-- What one holder holds: jobs, parts and folds.
SELECT 'job' AS noun, id AS job_id, attempt AS job_attempt, NULL AS ordinal, attempt AS fence, failures, kind FROM job WHERE holder = :holder
UNION ALL
SELECT 'part', job_id, job_attempt, ordinal, attempt, failures, kind FROM part WHERE holder = :holder
UNION ALL
SELECT 'split', job_id, attempt, NULL, fence, failures, kind FROM split WHERE holder = :holder;

-- name: holders
-- Everybody who holds anything.
SELECT holder FROM job WHERE holder IS NOT NULL
UNION SELECT holder FROM part WHERE holder IS NOT NULL
UNION SELECT holder FROM split WHERE holder IS NOT NULL;

-- name: asked
-- The jobs and attempts of a holder that somebody asked to cancel.
SELECT id, attempt FROM job WHERE holder = :holder AND cancel_asked_ms IS NOT NULL
UNION
SELECT part.job_id, part.job_attempt FROM part JOIN job ON job.id = part.job_id
 WHERE part.holder = :holder AND job.cancel_asked_ms IS NOT NULL;

-- name: asked_of
-- Whether somebody asked to cancel the job of a lease, also when its parts are gone already.
SELECT 1 FROM job WHERE id = :id AND attempt = :attempt AND cancel_asked_ms IS NOT NULL;

-- name: keep_file
-- A file of the attempt that just landed.
INSERT INTO file (job_id, attempt, ordinal, part_attempt, name, size_bytes, sha256)
SELECT id, attempt, -1, :part_attempt, :name, :size_bytes, :sha256 FROM job WHERE id = :id AND state IN ('gathering', 'done') AND attempt = :attempt
RETURNING job_id;

-- name: late
-- A move that lost its fence changes nothing; that it came is history.
INSERT INTO event (at_ms, noun, job_id, ordinal, move, attempt, actor, cause)
VALUES (:now, :noun, :id, :ordinal, 'late', :fence, 'holder', :cause);

-- name: ignored
-- The holders of jobs that somebody asked to cancel long ago, and that go on.
SELECT holder FROM job WHERE cancel_asked_ms IS NOT NULL AND ended_ms IS NULL AND cancel_asked_ms <= :before AND holder IS NOT NULL
UNION
SELECT part.holder FROM job JOIN part ON part.job_id = job.id
 WHERE job.cancel_asked_ms IS NOT NULL AND job.ended_ms IS NULL AND job.cancel_asked_ms <= :before AND part.holder IS NOT NULL;

-- name: any_asked
SELECT 1 FROM job WHERE cancel_asked_ms IS NOT NULL AND ended_ms IS NULL AND state IN ('leased', 'gathering') LIMIT 1;
