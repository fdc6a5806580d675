-- Moments are milliseconds since 1970, ids are 16 bytes, events and records are JSON.

CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    plan_id BLOB NOT NULL,
    agent_id BLOB,
    state TEXT NOT NULL,
    steps INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER,
    owner TEXT,
    fence INTEGER NOT NULL,
    idempotency_key TEXT
) STRICT;

CREATE UNIQUE INDEX runs_by_idempotency_key ON runs (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_created_at ON runs (created_at, id);
CREATE INDEX runs_by_state ON runs (state, created_at, id);
CREATE INDEX runs_by_completed_at ON runs (completed_at) WHERE completed_at IS NOT NULL;

-- A log ends at the greatest revision of its run: it is written nowhere else, so it cannot disagree. Events lie in the
-- order of their arrival, so that a batch for many runs fills few pages; the small index finds those of one run.
CREATE TABLE events (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (key),
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,
    event TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_run ON events (run, revision);

CREATE TABLE executions (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    run INTEGER NOT NULL REFERENCES runs (key),
    agent_id BLOB,
    skill TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER,
    retry_count INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;

CREATE INDEX executions_by_run ON executions (run);
CREATE INDEX executions_by_agent ON executions (agent_id, started_at, id) WHERE agent_id IS NOT NULL;
CREATE INDEX executions_by_skill ON executions (skill, started_at, id);
CREATE INDEX executions_by_status ON executions (status, started_at, id);
CREATE INDEX executions_by_started_at ON executions (started_at, id);

CREATE TABLE health (
    skill TEXT PRIMARY KEY,
    content_hash TEXT NOT NULL,
    health TEXT NOT NULL,
    failures INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
