-- Hands a run over; no row comes back when its fence is another one.
WITH taken AS (
    UPDATE runs SET fence = fence + 1, owner = $3
    WHERE id = $1 AND fence = $2
    RETURNING fence
)
UPDATE write_counts SET writes = writes + 1
FROM taken WHERE slot = pg_backend_pid() % 64
RETURNING taken.fence
