-- Removes at most $2 runs that ended before $1 and returns how many. A run that somebody writes to or removes at the
-- same time is left to the next call.
WITH ended AS (
    SELECT id FROM runs
    WHERE completed_at < $1
    ORDER BY completed_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM runs USING ended WHERE runs.id = ended.id
    RETURNING runs.id
),
gone_events AS (
    DELETE FROM run_events USING gone WHERE run_events.run = gone.id
),
gone_executions AS (
    DELETE FROM executions USING gone WHERE executions.run = gone.id
),
counted AS (
    UPDATE write_counts SET writes = writes + 1
    WHERE slot = pg_backend_pid() % 64 AND EXISTS (SELECT FROM gone)
)
SELECT count(*) FROM gone
