"""What holds for every ledger at every moment, as queries that find whatever breaks it."""

from __future__ import annotations

from typing import Final

LAWS: Final = {
    "each move of a job is one event": """
        SELECT id FROM job WHERE moves <>
          (SELECT count(*) FROM event WHERE job_id = job.id AND noun = 'job' AND move <> 'late')""",
    "each move of a part is one event": """
        SELECT job_id, ordinal FROM part WHERE moves <>
          (SELECT count(*) FROM event WHERE job_id = part.job_id AND noun = 'part' AND ordinal = part.ordinal AND move <> 'late'
              AND seq > (SELECT max(seq) FROM event WHERE job_id = part.job_id AND noun = 'split' AND move = 'open'))""",
    "each move of a fold is one event": """
        SELECT job_id FROM split WHERE attempt = (SELECT attempt FROM job WHERE id = job_id) AND moves <>
          (SELECT count(*) FROM event WHERE job_id = split.job_id AND noun = 'split' AND move <> 'late'
              AND seq >= (SELECT max(seq) FROM event WHERE job_id = split.job_id AND noun = 'split' AND move = 'open'))""",
    "an event goes on from where the one before led": """
        SELECT later.seq FROM event AS later WHERE later.noun = 'job' AND later.was IS NOT NULL AND later.was IS NOT
          (SELECT became FROM event AS earlier WHERE earlier.job_id = later.job_id AND earlier.noun = 'job'
              AND earlier.move <> 'late' AND earlier.seq < later.seq ORDER BY seq DESC LIMIT 1)""",
    "a done job, and no other, has its one result": """
        SELECT id FROM job WHERE (state = 'done') <>
          (SELECT count(*) = 1 FROM result WHERE job_id = job.id AND attempt = job.attempt)""",
    "no job stands as ready that may not start": """
        SELECT id FROM job WHERE state = 'ready' AND id NOT IN (SELECT id FROM may_start)""",
    "what is leased, and nothing else, has a holder": """
        SELECT id FROM job WHERE (state = 'leased') <> (holder IS NOT NULL)
        UNION ALL SELECT job_id FROM part WHERE (state = 'leased') <> (holder IS NOT NULL)
        UNION ALL SELECT job_id FROM split WHERE (state = 'leased') <> (holder IS NOT NULL)""",
    "parts stand only in the window of a gathering job": """
        SELECT part.job_id FROM part
          LEFT JOIN job ON job.id = part.job_id AND job.state = 'gathering' AND job.attempt = part.job_attempt
          LEFT JOIN split ON split.job_id = part.job_id AND split.attempt = part.job_attempt
         WHERE job.id IS NULL OR split.job_id IS NULL OR part.ordinal < split.folded OR part.ordinal >= split.opened""",
    "the window is open as far as it may be": """
        SELECT split.job_id FROM split JOIN job ON job.id = split.job_id AND job.attempt = split.attempt AND job.state = 'gathering'
         WHERE split.opened <> min(parts, folded + width)
            OR (SELECT count(*) FROM part WHERE part.job_id = split.job_id) <> split.opened - split.folded""",
    "a fold that waits, waits for a part without an answer": """
        SELECT split.job_id FROM split WHERE split.state = 'waiting' AND
          (split.folded = split.parts OR EXISTS (SELECT 1 FROM part WHERE part.job_id = split.job_id
              AND part.job_attempt = split.attempt AND part.ordinal = split.folded AND part.state IN ('done', 'dead')))""",
    "files stand only for attempts that stand": """
        SELECT file.job_id FROM file JOIN job ON job.id = file.job_id
         WHERE file.attempt <> job.attempt OR job.state NOT IN ('done', 'gathering')
            OR (file.ordinal >= 0 AND NOT EXISTS (SELECT 1 FROM part WHERE part.job_id = file.job_id
                   AND part.ordinal = file.ordinal AND part.state = 'done'))""",
    "counts stay within their bounds": """
        SELECT id FROM job WHERE failures > failures_max OR (state = 'dead') <> (failures = failures_max)
        UNION ALL SELECT job_id FROM part WHERE failures > failures_max""",
}
