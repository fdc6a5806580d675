-- Forgets the health of a skill. The count is locked before the skill, as by every other write.
WITH counted AS (
    UPDATE write_counts SET writes = writes + 1
    WHERE slot = pg_backend_pid() % 64 AND EXISTS (SELECT FROM skill_health WHERE skill = $1)
    RETURNING slot
)
DELETE FROM skill_health USING counted WHERE skill = $1
