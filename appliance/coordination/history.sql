-- name: of_job
SELECT seq, at_ms, noun, ordinal, move, was, became, attempt, started_ms, actor, holder, cause FROM event
 WHERE job_id = :id AND seq > :after ORDER BY seq LIMIT :most;

-- name: show
SELECT id, kind, work_id, version, round, state, priority, due_ms, payload, attempt, failures, failures_max, starts, holder,
       cancel_asked_ms, error_class, error_text, submitted_ms, started_ms, moved_ms, ended_ms,
       (SELECT value FROM result WHERE result.job_id = job.id),
       (SELECT sha256 FROM result WHERE result.job_id = job.id)
  FROM job WHERE id = :id;

-- name: newest
SELECT id, kind, work_id, state, attempt, failures, submitted_ms, moved_ms, error_text FROM job
 WHERE id < :before ORDER BY id DESC LIMIT :most;

-- name: newest_in_state
-- The states that a person looks for have an index; the others are short or are found from the newest back.
SELECT id, kind, work_id, state, attempt, failures, submitted_ms, moved_ms, error_text FROM job
 WHERE id < :before AND state = :state ORDER BY id DESC LIMIT :most;

-- name: counts
-- scan: a count of everything, asked by a person
SELECT state, count(*) FROM job GROUP BY state ORDER BY state;

-- name: ended
SELECT job.id, job.state FROM json_each(:ids) AS ids CROSS JOIN job ON job.id = ids.value
 WHERE job.state IN ('done', 'unclear', 'rejected', 'dead', 'cancelled');

-- name: files
SELECT attempt, ordinal, part_attempt, name, size_bytes, sha256 FROM file WHERE job_id = :id AND ordinal < 0 ORDER BY name;

-- name: state
SELECT state FROM job WHERE id = :id;

-- name: anchor
-- scan: one row
SELECT at_ms, wall_ms FROM ledger;
