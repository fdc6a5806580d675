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
-- What each health of a skill becomes is given as a table, because only the model knows. A skill whose health stays as
-- it is, as that of one which always works, is not written and so not locked: its runs do not wait for each other.
judged AS (
    INSERT INTO skill_health AS kept (skill, content_hash, health)
    SELECT change.skill, change.content_hash, change.from_new
    FROM moved
    CROSS JOIN UNNEST($18::text[], $19::text[], $20::text[]) AS change (skill, content_hash, from_new)
    WHERE NOT EXISTS (
        SELECT FROM skill_health AS same
        JOIN UNNEST($21::text[], $22::text[], $23::text[]) AS step (skill, before, after)
            ON step.skill = same.skill AND step.before = same.health AND step.after = same.health
        WHERE same.skill = change.skill AND same.content_hash = change.content_hash
    )
    ORDER BY change.skill COLLATE "C"
    ON CONFLICT (skill) DO UPDATE SET
        content_hash = excluded.content_hash,
        health = COALESCE(
            (
                SELECT step.after
                FROM UNNEST($21::text[], $22::text[], $23::text[]) AS step (skill, before, after)
                WHERE step.skill = kept.skill AND step.before = kept.health
                    AND kept.content_hash = excluded.content_hash
            ),
            excluded.health
        )
)
UPDATE write_counts SET writes = writes + 1
FROM moved WHERE slot = pg_backend_pid() % 64
RETURNING moved.revision
