-- Runs and their logs, the records of executions, and the health of skills.
--
-- Times are milliseconds since 1970. Documents are JSON as text and not as jsonb, which cannot hold the escape \u0000:
-- scripts may say it, and what they say is kept as it is.

-- What lists show about a run, and who drives it. An append changes only columns without an index most of the time;
-- with room on the page that costs no index entry.
CREATE TABLE runs (
    id uuid PRIMARY KEY,
    state text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    completed_at bigint,
    summary text NOT NULL,
    revision bigint NOT NULL,
    owner text,
    fence bigint NOT NULL,
    idempotency_key bytea
) WITH (fillfactor = 60);
CREATE INDEX runs_created ON runs (created_at DESC, id DESC);
CREATE INDEX runs_state ON runs (state, created_at DESC, id DESC);
CREATE INDEX runs_completed ON runs (completed_at) WHERE completed_at IS NOT NULL;
-- By hash, because a long key would not fit an index.
CREATE UNIQUE INDEX runs_key ON runs (sha256(idempotency_key)) WHERE idempotency_key IS NOT NULL;

-- No foreign key: every write of events locks their run first, and a check per event would be paid for nothing.
CREATE TABLE run_events (
    run uuid NOT NULL,
    revision bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (run, revision)
);

CREATE TABLE executions (
    id uuid PRIMARY KEY,
    run uuid NOT NULL,
    agent uuid,
    skill text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    duration_ms bigint,
    retries bigint NOT NULL,
    record text NOT NULL
);
CREATE INDEX executions_started ON executions (started_at DESC, id DESC);
CREATE INDEX executions_run ON executions (run, started_at DESC, id DESC);
CREATE INDEX executions_agent ON executions (agent, started_at DESC, id DESC);
CREATE INDEX executions_skill ON executions (skill, started_at DESC, id DESC);
CREATE INDEX executions_status ON executions (status, started_at DESC, id DESC);

CREATE TABLE skill_health (
    skill text COLLATE "C" PRIMARY KEY,
    content_hash text NOT NULL,
    health text NOT NULL
);

-- Counts the writes; their sum is the version of the store. A sequence would show a write before it is committed, and
-- one row would make every write wait for the one before. Each connection counts in a row of its own, nearly.
CREATE TABLE write_counts (
    slot integer PRIMARY KEY,
    writes bigint NOT NULL
) WITH (fillfactor = 20);
INSERT INTO write_counts SELECT slot, 0 FROM generate_series(0, 63) AS slot;
