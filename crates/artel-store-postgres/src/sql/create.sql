-- Keeps a run and its first events; no row comes back when its id or key is there already.
WITH kept AS (
    INSERT INTO runs (id, state, created_at, completed_at, summary, revision, owner, fence, idempotency_key, owner_user)
    VALUES ($1, $2, $3, $4, $5, cardinality($9::text[]), $6, $7, $8, $10)
    ON CONFLICT DO NOTHING
    RETURNING id
),
logged AS (
    INSERT INTO run_events (run, revision, event)
    SELECT kept.id, entry.place, entry.event
    FROM kept CROSS JOIN UNNEST($9::text[]) WITH ORDINALITY AS entry (event, place)
)
UPDATE write_counts SET writes = writes + 1
FROM kept WHERE slot = pg_backend_pid() % 64
RETURNING kept.id
