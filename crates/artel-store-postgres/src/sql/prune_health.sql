-- Forgets the health of some files as far as it has not changed for long. The count is locked before the rows, as by every other write.
WITH counted AS (
    UPDATE write_counts SET writes = writes + 1
    WHERE slot = pg_backend_pid() % 64
        AND EXISTS (SELECT FROM health_counts WHERE skill = $1 AND content_hash = $2 AND at < $3)
    RETURNING slot
)
DELETE FROM health_counts USING counted WHERE skill = $1 AND content_hash = $2 AND at < $3
