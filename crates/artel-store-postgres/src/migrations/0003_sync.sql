-- What is needed to tell what is written from what is synced, and to remove runs while others write.
--
-- Commits do not wait for the disk; `sync_writes` does, for all that were before it. A crash of the server can lose what
-- was committed shortly before, and the server does not say so. But it empties tables like this one when it recovers from
-- a crash, and only then: whoever finds another era than before knows that something may be missing.
CREATE UNLOGGED TABLE eras (
    is_current boolean PRIMARY KEY DEFAULT true CHECK (is_current),
    id uuid NOT NULL
);

-- Prepares a connection, and returns the era in which it was opened. It ends with the era, because a crash of the server
-- ends all connections.
CREATE FUNCTION begin_session(OUT era text) LANGUAGE plpgsql AS $$
DECLARE
    level text := current_setting('synchronous_commit');
BEGIN
    PERFORM set_config('artel.sync_level', CASE level WHEN 'off' THEN 'on' ELSE level END, false);
    PERFORM set_config('synchronous_commit', 'off', false);
    SELECT id INTO era FROM eras;
    IF NOT FOUND THEN
        INSERT INTO eras (id) VALUES (md5(concat(random(), clock_timestamp(), pg_backend_pid()))::uuid)
        ON CONFLICT DO NOTHING;
        SELECT id INTO era FROM eras;
    END IF;
END $$;

-- Waits until everything that was committed before is flushed. The log of the server is one; its end is flushed with all
-- that lies before. A transaction that wrote nothing would flush nothing: the message is what it writes.
CREATE FUNCTION sync_writes() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', current_setting('artel.sync_level'), true);
    PERFORM pg_logical_emit_message(true, 'artel', '');
END $$;

-- Removes at most `count_max` runs that ended before a moment, and returns how many. A run that somebody writes to or
-- removes at the same time is left to the next call. What belongs to a run is looked for after the run is locked: what was
-- written before that is seen, and nothing can be written after it.
CREATE FUNCTION prune_runs(moment bigint, count_max bigint, OUT removed bigint) LANGUAGE plpgsql AS $$
DECLARE
    gone uuid[];
BEGIN
    SELECT COALESCE(array_agg(id), '{}') INTO gone FROM (
        SELECT id FROM runs
        WHERE completed_at < moment
        ORDER BY completed_at
        LIMIT count_max
        FOR UPDATE SKIP LOCKED
    ) AS ended;
    removed := cardinality(gone);
    IF removed > 0 THEN
        DELETE FROM runs WHERE id = ANY (gone);
        DELETE FROM run_events WHERE run = ANY (gone);
        DELETE FROM executions WHERE run = ANY (gone);
        PERFORM count_write();
    END IF;
END $$;
