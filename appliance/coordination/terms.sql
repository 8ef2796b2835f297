-- name: enter
INSERT INTO term (name, number, holder, entered_ms) VALUES (:name, 1, :holder, :now)
    ON CONFLICT (name) DO UPDATE SET number = number + 1, holder = excluded.holder, entered_ms = excluded.entered_ms
RETURNING number;

-- name: stands
SELECT 1 FROM term WHERE name = :name AND number = :number AND holder = :holder;
