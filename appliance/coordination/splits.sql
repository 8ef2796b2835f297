-- name: open_split
-- The split of an attempt that still stands; the job moves to gathering in the same transaction.
INSERT INTO split (job_id, attempt, kind, version, schema, rank, state, parts, width, when_dead, carried, failures_max, move, actor, moved_ms)
SELECT id, attempt, kind, version, schema, rank, 'waiting', :parts, :width, :when_dead, :carried, failures_max, 'open', 'holder', :now
  FROM job WHERE id = :id AND state = 'leased' AND attempt = :attempt
RETURNING job_id;

-- name: split
UPDATE job
   SET state = 'gathering', holder = NULL, starts = 0, started_ms = :started_ms,
       move = 'split', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'leased' AND attempt = :attempt
RETURNING id;

-- name: widen
-- How far the window lets parts be opened.
UPDATE split SET opened = min(parts, folded + width)
 WHERE job_id = :id AND attempt = :attempt AND opened < min(parts, folded + width)
RETURNING opened;

-- name: open_parts
WITH RECURSIVE fresh (ordinal) AS (
  SELECT coalesce((SELECT max(part.ordinal) + 1 FROM part WHERE part.job_id = :id AND part.job_attempt = :attempt),
                  (SELECT folded FROM split WHERE job_id = :id AND attempt = :attempt))
  UNION ALL
  SELECT ordinal + 1 FROM fresh WHERE ordinal + 1 < :opened)
INSERT INTO part (job_id, job_attempt, ordinal, kind, version, schema, rank, due_ms, state, failures_max, move, actor, moved_ms)
SELECT split.job_id, split.attempt, fresh.ordinal, split.kind, split.version, split.schema, split.rank, :now, 'ready',
       split.failures_max, 'open', 'holder', :now
  FROM fresh CROSS JOIN split
 WHERE split.job_id = :id AND split.attempt = :attempt AND fresh.ordinal < :opened;

-- name: claim_parts
-- unfenced: nobody holds a ready part, the fence is made here
UPDATE part
   SET state = 'leased', attempt = attempt + 1, holder = :holder, started_ms = NULL,
       move = 'claim', actor = 'worker', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE state = 'ready'
   AND (job_id, job_attempt, ordinal) IN (
       SELECT first.job_id, first.job_attempt, first.ordinal
         FROM (SELECT each.job_id, each.job_attempt, each.ordinal, each.rank
                 FROM json_each(:reads) AS reads CROSS JOIN part AS each
                WHERE each.state = 'ready' AND each.kind = reads.value ->> 0
                  AND each.version = reads.value ->> 1 AND each.schema = reads.value ->> 2
                  AND each.rank <= coalesce((
                      SELECT min((SELECT job.rank FROM job
                                   WHERE job.state = 'ready' AND job.kind = other.value ->> 0
                                     AND job.version = other.value ->> 1 AND job.schema = other.value ->> 2
                                   ORDER BY job.rank LIMIT 1))
                        FROM json_each(:reads) AS other), each.rank)
                ORDER BY each.rank, each.job_id, each.ordinal LIMIT :most) AS first)
RETURNING rank, job_id, job_attempt, ordinal, attempt, kind, version, failures, failures_max, params;

-- name: claim_folds
-- unfenced: nobody holds a ready fold, the fence is made here
UPDATE split
   SET state = 'leased', fence = fence + 1, holder = :holder,
       move = 'claim', actor = 'worker', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE state = 'ready'
   AND (job_id, attempt) IN (
       SELECT each.job_id, each.attempt FROM json_each(:reads) AS reads CROSS JOIN split AS each
        WHERE each.state = 'ready' AND each.kind = reads.value ->> 0
          AND each.version = reads.value ->> 1 AND each.schema = reads.value ->> 2
        ORDER BY each.rank LIMIT :most)
RETURNING rank, job_id, attempt, fence, kind, version, failures, failures_max, parts, folded, carried, output_fence, output_bytes;

-- name: payload
SELECT payload FROM job WHERE id = :id;

-- name: foldable
-- The parts from the fold's place on that have an answer, in order; the fold takes them up to the first gap.
SELECT ordinal, state, attempt, params, result, error_class || ': ' || coalesce(error_text, '') FROM part
 WHERE job_id = :id AND job_attempt = :attempt AND ordinal >= :folded AND state IN ('done', 'dead')
 ORDER BY ordinal LIMIT :most;

-- name: files
SELECT ordinal, part_attempt, name, size_bytes, sha256 FROM file
 WHERE job_id = :id AND attempt = :attempt ORDER BY ordinal, part_attempt, name;

-- name: keep_part_file
INSERT INTO file (job_id, attempt, ordinal, part_attempt, name, size_bytes, sha256)
SELECT job_id, job_attempt, ordinal, attempt, :name, :size_bytes, :sha256 FROM part
 WHERE job_id = :id AND job_attempt = :job_attempt AND ordinal = :ordinal AND state = 'done' AND attempt = :attempt
RETURNING job_id;

-- name: finish_part
UPDATE part
   SET state = 'done', holder = NULL, result = :value, starts = 0, started_ms = :started_ms, error_class = NULL, error_text = NULL,
       move = 'finish', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND job_attempt = :job_attempt AND ordinal = :ordinal AND state = 'leased' AND attempt = :attempt
RETURNING ordinal;

-- name: retry_part
UPDATE part
   SET state = CASE WHEN :due_ms > :now THEN 'planned' ELSE 'ready' END, holder = NULL, failures = failures + 1, starts = 0,
       started_ms = :started_ms, due_ms = :due_ms, error_class = :error_class, error_text = :error_text,
       move = 'retry', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND job_attempt = :job_attempt AND ordinal = :ordinal AND state = 'leased' AND attempt = :attempt
   AND failures + 1 < failures_max
RETURNING ordinal;

-- name: bury_part
UPDATE part
   SET state = 'dead', holder = NULL, failures = failures + 1, starts = 0, started_ms = :started_ms,
       error_class = :error_class, error_text = :error_text,
       move = 'bury', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND job_attempt = :job_attempt AND ordinal = :ordinal AND state = 'leased' AND attempt = :attempt
RETURNING ordinal;

-- name: release_part
UPDATE part
   SET state = 'ready', holder = NULL, starts = starts + :started, started_ms = :started_ms,
       move = 'release', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND job_attempt = :job_attempt AND ordinal = :ordinal AND state = 'leased' AND attempt = :attempt
   AND starts + :started < :starts_max
RETURNING ordinal;

-- name: ripen_parts
-- unfenced: nobody holds a planned part
UPDATE part
   SET state = 'ready', move = 'ripen', actor = :actor, cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE state = 'planned'
   AND (job_id, job_attempt, ordinal) IN (SELECT due.job_id, due.job_attempt, due.ordinal FROM part AS due
                                           WHERE due.state = 'planned' AND due.due_ms <= :now ORDER BY due.due_ms LIMIT :most)
RETURNING ordinal;

-- name: redo_part
UPDATE part
   SET state = 'ready', result = NULL, params = :params, failures = 0,
       move = 'redo', actor = 'holder', cause = :params, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND job_attempt = :job_attempt AND ordinal = :ordinal AND state = 'done' AND attempt = :attempt
   AND attempt < :attempts_max
   AND EXISTS (SELECT 1 FROM split WHERE split.job_id = :id AND split.attempt = :job_attempt AND split.state = 'leased' AND split.fence = :fence)
RETURNING ordinal;

-- name: offer
-- unfenced: nobody holds a fold that waits
-- The part that the fold waits for has an answer.
UPDATE split
   SET state = 'ready', move = 'offer', actor = :actor, cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND attempt = :attempt AND state = 'waiting'
   AND EXISTS (SELECT 1 FROM part WHERE part.job_id = :id AND part.job_attempt = :attempt AND part.ordinal = split.folded
                  AND part.state IN ('done', 'dead'))
RETURNING job_id;

-- name: step
UPDATE split
   SET folded = :folded, carried = :carried, output_fence = :output_fence, output_bytes = :output_bytes, starts = 0, holder = NULL,
       state = CASE WHEN EXISTS (SELECT 1 FROM part WHERE part.job_id = :id AND part.job_attempt = :attempt
                                    AND part.ordinal = :folded AND part.state IN ('done', 'dead')) OR :folded = parts THEN 'ready' ELSE 'waiting' END,
       move = 'step', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND attempt = :attempt AND state = 'leased' AND fence = :fence AND folded <= :folded
   AND NOT EXISTS (SELECT 1 FROM part WHERE part.job_id = :id AND part.job_attempt = :attempt AND part.ordinal < :folded
                      AND part.state NOT IN ('done', 'dead'))
RETURNING folded;

-- name: finish_split
UPDATE split
   SET state = 'done', folded = :folded, carried = :carried, output_fence = :output_fence, output_bytes = :output_bytes, starts = 0,
       holder = NULL, move = 'finish', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND attempt = :attempt AND state = 'leased' AND fence = :fence AND :folded = parts
   AND NOT EXISTS (SELECT 1 FROM part WHERE part.job_id = :id AND part.job_attempt = :attempt AND part.ordinal < :folded
                      AND part.state NOT IN ('done', 'dead'))
RETURNING job_id;

-- name: keep_fold_result
INSERT INTO result (job_id, attempt, value, sha256, at_ms)
SELECT id, attempt, :value, :sha256, :now FROM job WHERE id = :id AND state = 'gathering' AND attempt = :attempt
RETURNING job_id;

-- name: fold
UPDATE job
   SET state = 'done', ended_ms = :now, error_class = NULL, error_text = NULL,
       move = 'fold', actor = 'holder', cause = NULL, moved_ms = :now, moves = moves + 1
 WHERE id = :id AND state = 'gathering' AND attempt = :attempt
RETURNING id;

-- name: retry_fold
UPDATE split
   SET state = 'ready', holder = NULL, failures = failures + 1, starts = 0, error_class = :error_class, error_text = :error_text,
       move = 'retry', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND attempt = :attempt AND state = 'leased' AND fence = :fence AND failures + 1 < failures_max
RETURNING job_id;

-- name: bury_fold
UPDATE split
   SET state = 'dead', holder = NULL, failures = failures + 1, starts = 0, error_class = :error_class, error_text = :error_text,
       move = 'bury', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND attempt = :attempt AND state = 'leased' AND fence = :fence
RETURNING job_id;

-- name: release_fold
UPDATE split
   SET state = 'ready', holder = NULL, starts = starts + :started,
       move = 'release', actor = :actor, cause = :cause, moved_ms = :now, moves = moves + 1
 WHERE job_id = :id AND attempt = :attempt AND state = 'leased' AND fence = :fence AND starts + :started < :starts_max
RETURNING job_id;

-- name: forget_folded
-- The folded parts' rows, with the step that folded them.
DELETE FROM part WHERE job_id = :id AND job_attempt = :attempt AND ordinal < :folded;

-- name: forget_folded_files
DELETE FROM file WHERE job_id = :id AND attempt = :attempt AND ordinal >= 0 AND ordinal < :folded;

-- name: forget_part_files
-- A part that is measured again leaves its earlier files behind.
DELETE FROM file WHERE job_id = :id AND attempt = :attempt AND ordinal = :ordinal;

-- name: forget_parts
-- All parts of a gathering that ended; a late attempt of one finds no row.
DELETE FROM part WHERE job_id = :id AND job_attempt = :attempt;

-- name: forget_split
DELETE FROM split WHERE job_id = :id AND attempt = :attempt;

-- name: forget_files
DELETE FROM file WHERE job_id = :id AND attempt = :attempt;

-- name: gathering_dead
-- Gathering jobs that a dead part or a dead fold has ended.
SELECT job.id, job.attempt,
       coalesce((SELECT part.error_class || ': ' || coalesce(part.error_text, '') FROM part
                  WHERE part.job_id = job.id AND part.job_attempt = job.attempt AND part.state = 'dead' LIMIT 1),
                split.error_class || ': ' || coalesce(split.error_text, ''))
  FROM split JOIN job ON job.id = split.job_id AND job.attempt = split.attempt
 WHERE split.job_id = :id AND job.state = 'gathering'
   AND (split.state = 'dead' OR (split.when_dead = 'bury' AND EXISTS (
        SELECT 1 FROM part WHERE part.job_id = job.id AND part.job_attempt = job.attempt AND part.state = 'dead')));

-- name: progress
SELECT parts, folded, (SELECT count(*) FROM part WHERE part.job_id = split.job_id AND part.job_attempt = split.attempt AND part.state = 'done')
  FROM split WHERE job_id = :id ORDER BY attempt DESC LIMIT 1;

-- name: gathering_asked
SELECT id, attempt FROM job WHERE cancel_asked_ms IS NOT NULL AND ended_ms IS NULL AND state = 'gathering';

-- name: at_work_on_asked
-- Who works on the parts and folds of gathering jobs that somebody asked to cancel.
SELECT part.holder, job.id FROM job JOIN part ON part.job_id = job.id AND part.job_attempt = job.attempt
 WHERE job.cancel_asked_ms IS NOT NULL AND job.ended_ms IS NULL AND job.state = 'gathering' AND part.holder IS NOT NULL
UNION
SELECT split.holder, job.id FROM job JOIN split ON split.job_id = job.id AND split.attempt = job.attempt
 WHERE job.cancel_asked_ms IS NOT NULL AND job.ended_ms IS NULL AND job.state = 'gathering' AND split.holder IS NOT NULL;

-- name: named_files
-- What the rows of an attempt name; the output of a split counts by its fence.
SELECT ordinal, part_attempt, name FROM file WHERE job_id = :id AND attempt = :attempt;

-- name: at_work
SELECT 1 FROM job WHERE id = :id AND attempt = :attempt AND state IN ('leased', 'gathering');
