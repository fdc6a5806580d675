-- Forgets the health of a skill, or only of the files with a hash. The count is locked before the rows, as by every other write.
WITH counted AS (
    UPDATE write_counts SET writes = writes + 1
    WHERE slot = pg_backend_pid() % 64
        AND EXISTS (SELECT FROM health_counts WHERE skill = $1 AND ($2::text IS NULL OR content_hash = $2))
    RETURNING slot
)
DELETE FROM health_counts USING counted WHERE skill = $1 AND ($2::text IS NULL OR content_hash = $2)
