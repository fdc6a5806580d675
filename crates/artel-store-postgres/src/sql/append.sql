-- Adds events to a run's log, with everything that follows from them; no row comes back, and nothing is written, when
-- the log ends elsewhere or somebody else drives the run.
--
-- Locks are taken in the order run, write count, skills by name: nobody waits in a circle.
WITH moved AS (
    UPDATE runs SET
        revision = revision + cardinality($4::text[]),
        state = COALESCE($5, state),
        created_at = COALESCE($6, created_at),
        completed_at = CASE WHEN $8::text IS NULL THEN completed_at ELSE $7 END,
        summary = COALESCE($8, summary)
    WHERE id = $1 AND revision = $2 AND ($3::bigint IS NULL OR fence = $3)
    RETURNING revision, owner_user
),
logged AS (
    INSERT INTO run_events (run, revision, event)
    SELECT $1, $2 + entry.place, entry.event
    FROM moved CROSS JOIN UNNEST($4::text[]) WITH ORDINALITY AS entry (event, place)
),
recorded AS (
    INSERT INTO executions (id, run, agent, skill, status, started_at, duration_ms, retries, record, owner_user)
    SELECT entry.*, moved.owner_user
    FROM moved
    CROSS JOIN UNNEST(
        $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[],
        $17::text[]
    ) AS entry
    ON CONFLICT (id) DO UPDATE SET
        run = excluded.run,
        agent = excluded.agent,
        skill = excluded.skill,
        status = excluded.status,
        started_at = excluded.started_at,
        duration_ms = excluded.duration_ms,
        retries = excluded.retries,
        record = excluded.record,
        owner_user = excluded.owner_user
),
-- What each tally becomes is given as a table, because only the model knows. A run that went well is written only where
-- another principal's failures are kept; where none are, nothing is kept. So skills that always work are never locked.
failing AS (
    SELECT DISTINCT change.skill, change.content_hash
    FROM moved
    CROSS JOIN UNNEST($18::text[], $19::text[]) AS change (skill, content_hash)
    JOIN health_counts AS other
        ON other.skill = change.skill AND other.content_hash = change.content_hash
    WHERE other.principal <> $24 AND other.tally <> '0'
),
judged AS (
    INSERT INTO health_counts AS kept (skill, content_hash, principal, tally, at)
    SELECT change.skill, change.content_hash, $24, change.from_clear, change.at
    FROM moved
    CROSS JOIN UNNEST($18::text[], $19::text[], $20::text[], $25::bigint[])
        AS change (skill, content_hash, from_clear, at)
    WHERE change.from_clear <> '0'
        OR (change.skill, change.content_hash) IN (SELECT skill, content_hash FROM failing)
    ORDER BY change.skill COLLATE "C", change.content_hash COLLATE "C"
    ON CONFLICT (skill, content_hash, principal) DO UPDATE SET
        at = excluded.at,
        tally = (
            SELECT step.after
            FROM UNNEST($21::text[], $22::text[], $23::text[]) AS step (files, before, after)
            WHERE step.files = kept.skill || ' ' || kept.content_hash AND step.before = kept.tally
        )
),
forgotten AS (
    DELETE FROM health_counts AS kept
    USING moved, UNNEST($18::text[], $19::text[], $20::text[]) AS change (skill, content_hash, from_clear)
    WHERE kept.skill = change.skill AND kept.content_hash = change.content_hash AND kept.principal = $24
        AND change.from_clear = '0'
        AND (change.skill, change.content_hash) NOT IN (SELECT skill, content_hash FROM failing)
)
UPDATE write_counts SET writes = writes + 1
FROM moved WHERE slot = pg_backend_pid() % 64
RETURNING moved.revision
