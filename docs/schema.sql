-- The ledger's schema, the sum of appliance/store/migrations; printed by `python -m tests.house.pages`, read by nobody but people.

CREATE TABLE ledger (
  id INTEGER PRIMARY KEY CONSTRAINT one_row CHECK (id = 1),
  floor INTEGER NOT NULL,
  incarnation TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  offset_ms INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  triggers_sha256 TEXT NOT NULL
) STRICT;

CREATE TABLE migration (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  release TEXT NOT NULL,
  applied_wall_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE move (
  noun TEXT NOT NULL,
  verb TEXT NOT NULL,
  was TEXT NOT NULL,
  became TEXT NOT NULL,
  actor TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failures TEXT NOT NULL,
  starts TEXT NOT NULL,
  PRIMARY KEY (noun, verb, was, became, actor)
) STRICT, WITHOUT ROWID;

CREATE TABLE kind (
  kind TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  schema INTEGER NOT NULL,
  pool TEXT NOT NULL,
  time_limit_ms INTEGER NOT NULL,
  failures_max INTEGER NOT NULL CONSTRAINT some_failure CHECK (failures_max >= 1),
  backoff_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  work_id TEXT NOT NULL CONSTRAINT work_id_said CHECK (work_id <> ''),
  version INTEGER NOT NULL,
  round INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CONSTRAINT known_state CHECK (
    state = 'leased' OR state = 'done' OR state = 'ready' OR state = 'planned' OR state = 'blocked' OR state = 'gathering'
    OR state = 'unclear' OR state = 'rejected' OR state = 'dead' OR state = 'cancelled'),
  rank INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  schema INTEGER NOT NULL,
  requires TEXT,
  payload TEXT NOT NULL,
  source TEXT,
  correlation TEXT,
  case_id INTEGER,
  lane TEXT,
  parent_id INTEGER,
  attempt INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  failures_max INTEGER NOT NULL,
  starts INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  started_ms INTEGER,
  cancel_asked_ms INTEGER,
  error_class TEXT,
  error_text TEXT,
  submitted_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  move TEXT NOT NULL,
  actor TEXT NOT NULL,
  cause TEXT,
  moved_ms INTEGER NOT NULL,
  moves INTEGER NOT NULL DEFAULT 1,
  CONSTRAINT held_while_leased CHECK ((state = 'leased') = (holder IS NOT NULL)),
  CONSTRAINT ended_at_an_end CHECK (
    (state = 'done' OR state = 'rejected' OR state = 'dead' OR state = 'cancelled') = (ended_ms IS NOT NULL)),
  CONSTRAINT failures_bounded CHECK (failures BETWEEN 0 AND failures_max),
  CONSTRAINT identity UNIQUE (kind, work_id, version, round)
) STRICT;

CREATE INDEX job_ready ON job (kind, version, schema, rank) WHERE state = 'ready';

CREATE INDEX job_planned ON job (due_ms) WHERE state = 'planned';

CREATE INDEX job_held ON job (holder) WHERE holder IS NOT NULL;

CREATE INDEX job_blocked ON job (lane) WHERE state = 'blocked';

CREATE INDEX job_asked ON job (cancel_asked_ms) WHERE cancel_asked_ms IS NOT NULL AND ended_ms IS NULL;

CREATE INDEX job_gathering ON job (id) WHERE state = 'gathering';

CREATE INDEX job_standing ON job (state, id)
 WHERE state = 'unclear' OR state = 'rejected' OR state = 'dead' OR state = 'cancelled';

CREATE TABLE edge (
  job_id INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  needs_id INTEGER NOT NULL,
  when_dead TEXT NOT NULL CONSTRAINT stated CHECK (when_dead IN ('block', 'cancel', 'go_on')),
  met INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job_id, needs_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX edge_needs ON edge (needs_id) WHERE met = 0;

CREATE TABLE lane (
  lane TEXT PRIMARY KEY,
  at_once_most INTEGER NOT NULL CONSTRAINT some_place CHECK (at_once_most >= 1),
  spacing_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE VIEW may_start AS
SELECT job.id FROM job
 WHERE NOT EXISTS (SELECT 1 FROM edge WHERE edge.job_id = job.id AND edge.met = 0)
   AND job.lane IS NULL;

CREATE TABLE result (
  job_id INTEGER PRIMARY KEY,
  attempt INTEGER NOT NULL,
  value TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE past (
  kind TEXT NOT NULL,
  work_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  round INTEGER NOT NULL,
  job_id INTEGER NOT NULL,
  state TEXT NOT NULL,
  result_sha256 TEXT,
  PRIMARY KEY (kind, work_id, version, round)
) STRICT, WITHOUT ROWID;

CREATE TABLE file (
  job_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  part_attempt INTEGER NOT NULL,
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (job_id, attempt, ordinal, part_attempt, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE split (
  job_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  schema INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  state TEXT NOT NULL CONSTRAINT known_state CHECK (
    state = 'waiting' OR state = 'ready' OR state = 'leased' OR state = 'done' OR state = 'dead'),
  parts INTEGER NOT NULL CONSTRAINT some_part CHECK (parts >= 1),
  width INTEGER NOT NULL CONSTRAINT some_width CHECK (width >= 1),
  when_dead TEXT NOT NULL CONSTRAINT stated CHECK (when_dead IN ('bury', 'fold')),
  opened INTEGER NOT NULL DEFAULT 0,
  folded INTEGER NOT NULL DEFAULT 0,
  carried TEXT NOT NULL,
  fence INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  failures_max INTEGER NOT NULL,
  starts INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  output_fence INTEGER NOT NULL DEFAULT 0,
  output_bytes INTEGER NOT NULL DEFAULT 0,
  error_class TEXT,
  error_text TEXT,
  move TEXT NOT NULL,
  actor TEXT NOT NULL,
  cause TEXT,
  moved_ms INTEGER NOT NULL,
  moves INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (job_id, attempt),
  CONSTRAINT held_while_leased CHECK ((state = 'leased') = (holder IS NOT NULL)),
  CONSTRAINT in_order CHECK (0 <= folded AND folded <= opened AND opened <= parts AND opened <= folded + width)
) STRICT, WITHOUT ROWID;

CREATE INDEX split_ready ON split (kind, version, schema, rank) WHERE state = 'ready';

CREATE INDEX split_held ON split (holder) WHERE holder IS NOT NULL;

CREATE TABLE part (
  job_id INTEGER NOT NULL,
  job_attempt INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  schema INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  state TEXT NOT NULL CONSTRAINT known_state CHECK (
    state = 'ready' OR state = 'leased' OR state = 'done' OR state = 'planned' OR state = 'dead'),
  params TEXT NOT NULL DEFAULT '{}',
  attempt INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  failures_max INTEGER NOT NULL,
  starts INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  started_ms INTEGER,
  result TEXT,
  error_class TEXT,
  error_text TEXT,
  move TEXT NOT NULL,
  actor TEXT NOT NULL,
  cause TEXT,
  moved_ms INTEGER NOT NULL,
  moves INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (job_id, job_attempt, ordinal),
  CONSTRAINT held_while_leased CHECK ((state = 'leased') = (holder IS NOT NULL)),
  CONSTRAINT result_when_done CHECK ((state = 'done') = (result IS NOT NULL)),
  CONSTRAINT failures_bounded CHECK (failures BETWEEN 0 AND failures_max)
) STRICT, WITHOUT ROWID;

CREATE INDEX part_ready ON part (kind, version, schema, rank, ordinal) WHERE state = 'ready';

CREATE INDEX part_planned ON part (due_ms) WHERE state = 'planned';

CREATE INDEX part_held ON part (holder) WHERE holder IS NOT NULL;

CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  noun TEXT NOT NULL,
  job_id INTEGER,
  ordinal INTEGER,
  move TEXT NOT NULL,
  was TEXT,
  became TEXT,
  attempt INTEGER,
  started_ms INTEGER,
  actor TEXT NOT NULL,
  holder TEXT,
  cause TEXT
) STRICT;

CREATE INDEX event_job ON event (job_id, seq) WHERE job_id IS NOT NULL;

CREATE TABLE term (
  name TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  holder TEXT NOT NULL,
  entered_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
