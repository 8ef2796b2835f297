-- name: enter
INSERT INTO process (holder, kind, name, release, started_boot_ms) VALUES (:holder, :kind, :name, :release, :started_boot_ms)
    ON CONFLICT (holder) DO NOTHING;

-- name: leave
DELETE FROM process WHERE holder = :holder;

-- name: all
-- scan: one row a process
SELECT holder, kind, name, release, started_boot_ms FROM process ORDER BY name;

-- name: progress
INSERT INTO progress (job_id, ordinal, attempt, done, total, at_boot_ms) VALUES (:id, :ordinal, :attempt, :done, :total, :at_boot_ms)
    ON CONFLICT (job_id, ordinal) DO UPDATE
   SET attempt = excluded.attempt, done = excluded.done, total = excluded.total, at_boot_ms = excluded.at_boot_ms
 WHERE excluded.attempt >= progress.attempt;

-- name: progress_of
SELECT ordinal, attempt, done, total, at_boot_ms FROM progress WHERE job_id = :id ORDER BY ordinal;

-- name: forget_progress
DELETE FROM progress WHERE job_id = :id AND ordinal = :ordinal AND attempt = :attempt;
