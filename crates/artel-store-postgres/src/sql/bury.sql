-- Keeps dead letters in the order they are given.
WITH buried AS (
    INSERT INTO dead_letters (recipient, reason, at, message)
    SELECT letter.recipient, letter.reason, letter.at, letter.message
    FROM UNNEST($1::uuid[], $2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY
        AS letter (recipient, reason, at, message, number)
    ORDER BY letter.number
)
UPDATE write_counts SET writes = writes + 1 WHERE slot = pg_backend_pid() % 64
