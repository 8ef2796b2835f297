-- name: row
INSERT INTO move (noun, verb, was, became, actor, attempts, failures, starts)
VALUES ('$noun', '$verb', '$was', '$became', '$actor', $attempts, '$failures', '$starts')

-- name: enters
CREATE TRIGGER ${noun}_enters BEFORE INSERT ON $noun BEGIN
  SELECT raise(ABORT, '$noun: not an entry of the state table')
   WHERE NEW.moves <> 1 OR NEW.$fence <> 0 OR NEW.failures <> 0 OR NEW.starts <> 0
      OR NOT EXISTS (SELECT 1 FROM move WHERE noun = '$noun' AND verb = NEW.move AND was = '' AND became = NEW.state
                        AND actor = NEW.actor);
END

-- name: moves
CREATE TRIGGER ${noun}_moves BEFORE UPDATE ON $noun
  WHEN $touched
BEGIN
  SELECT raise(ABORT, '$noun: not a move of the state table')
   WHERE NEW.moves <> OLD.moves + 1
      OR NOT EXISTS (
         SELECT 1 FROM move
          WHERE noun = '$noun' AND verb = NEW.move AND was = OLD.state AND became = NEW.state AND actor = NEW.actor
            AND NEW.$fence = OLD.$fence + attempts
            AND CASE failures WHEN 'keep' THEN NEW.failures = OLD.failures WHEN 'add' THEN NEW.failures = OLD.failures + 1
                              WHEN 'reset' THEN NEW.failures = 0 ELSE NEW.failures - OLD.failures IN (0, 1) END
            AND CASE starts WHEN 'keep' THEN NEW.starts = OLD.starts WHEN 'add' THEN NEW.starts = OLD.starts + 1
                            WHEN 'reset' THEN NEW.starts = 0 ELSE NEW.starts - OLD.starts IN (0, 1) END);
END

-- name: fixed
CREATE TRIGGER ${noun}_fixed BEFORE UPDATE OF $columns ON $noun WHEN $changed BEGIN
  SELECT raise(ABORT, '$noun: its identity does not change');
END

-- name: must
SELECT raise(ABORT, '$noun: $wrong') WHERE $when AND NOT ($needs);

-- name: entered
CREATE TRIGGER ${noun}_entered AFTER INSERT ON $noun BEGIN
  $musts
  INSERT INTO event (at_ms, noun, job_id, ordinal, move, became, attempt, actor, holder, cause)
  VALUES (NEW.moved_ms, '$noun', NEW.$job_id, $ordinal, NEW.move, NEW.state, NEW.$fence, NEW.actor, NEW.holder, NEW.cause);
END

-- name: moved
CREATE TRIGGER ${noun}_moved AFTER UPDATE ON $noun WHEN NEW.moves <> OLD.moves BEGIN
  $musts
  INSERT INTO event (at_ms, noun, job_id, ordinal, move, was, became, attempt, started_ms, actor, holder, cause)
  VALUES (NEW.moved_ms, '$noun', NEW.$job_id, $ordinal, NEW.move, OLD.state, NEW.state, NEW.$fence, $started, NEW.actor,
          coalesce(NEW.holder, OLD.holder), NEW.cause);
END

-- name: job_stays
CREATE TRIGGER job_stays BEFORE DELETE ON job WHEN OLD.state NOT IN ('done', 'rejected', 'dead', 'cancelled') BEGIN
  SELECT raise(ABORT, 'job: a live job is not deleted');
END

-- name: part_stays
CREATE TRIGGER part_stays BEFORE DELETE ON part
  WHEN OLD.state NOT IN ('done', 'dead')
   AND EXISTS (SELECT 1 FROM job WHERE id = OLD.job_id AND state = 'gathering' AND attempt = OLD.job_attempt)
BEGIN
  SELECT raise(ABORT, 'part: a live part is not deleted');
END

-- name: split_stays
CREATE TRIGGER split_stays BEFORE DELETE ON split
  WHEN EXISTS (SELECT 1 FROM job WHERE id = OLD.job_id AND state = 'gathering' AND attempt = OLD.attempt)
BEGIN
  SELECT raise(ABORT, 'split: a gathering job keeps its split');
END

-- name: job_payload
CREATE TRIGGER job_payload BEFORE UPDATE OF payload ON job WHEN NEW.payload IS NOT OLD.payload AND NEW.move <> 'correct' BEGIN
  SELECT raise(ABORT, 'job: a payload changes by correct alone');
END

-- name: result_enters
CREATE TRIGGER result_enters BEFORE INSERT ON result BEGIN
  SELECT raise(ABORT, 'result: not of the attempt that stands')
   WHERE NOT EXISTS (SELECT 1 FROM job WHERE id = NEW.job_id AND attempt = NEW.attempt
                        AND (state = 'leased' OR state = 'gathering' OR state = 'unclear'))
      OR EXISTS (SELECT 1 FROM result WHERE job_id = NEW.job_id);
END

-- name: result_kept
CREATE TRIGGER result_kept BEFORE DELETE ON result WHEN EXISTS (SELECT 1 FROM job WHERE id = OLD.job_id) BEGIN
  SELECT raise(ABORT, 'result: it stays as long as its job');
END

-- name: result_stays
CREATE TRIGGER result_stays BEFORE UPDATE ON result BEGIN
  SELECT raise(ABORT, 'result: committed once');
END

-- name: event_stays
CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN
  SELECT raise(ABORT, 'event: history is not rewritten');
END

-- name: term_grows
CREATE TRIGGER term_grows BEFORE UPDATE ON term WHEN NEW.number <> OLD.number + 1 BEGIN
  SELECT raise(ABORT, 'term: its number grows by one');
END

-- name: term_stays
CREATE TRIGGER term_stays BEFORE DELETE ON term BEGIN
  SELECT raise(ABORT, 'term: its number never begins anew');
END

-- name: term_entered
CREATE TRIGGER term_entered AFTER INSERT ON term BEGIN
  INSERT INTO event (at_ms, noun, move, attempt, actor, holder, cause)
  VALUES (NEW.entered_ms, 'term', 'enter', NEW.number, 'holder', NEW.holder, NEW.name);
END

-- name: term_moved
CREATE TRIGGER term_moved AFTER UPDATE ON term BEGIN
  INSERT INTO event (at_ms, noun, move, attempt, actor, holder, cause)
  VALUES (NEW.entered_ms, 'term', 'enter', NEW.number, 'holder', NEW.holder, NEW.name);
END
