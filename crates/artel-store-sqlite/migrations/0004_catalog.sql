-- The shared catalog: skills that people saved, hubs, keys, what scanners and administrators said, and who changed what.
-- Documents are JSON; what they are found by, and what changes apart from them, lies in columns beside them.

-- Content by its SHA-256, so that the history of a skill does not copy what stays the same.
CREATE TABLE blobs (
    key INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    content BLOB NOT NULL
) STRICT;

-- Every revision of a skill; the document is nothing where it was deleted.
CREATE TABLE custom_skill_changes (
    key INTEGER PRIMARY KEY,
    skill BLOB NOT NULL,
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by_user TEXT NOT NULL,
    document TEXT
) STRICT;

CREATE UNIQUE INDEX custom_skill_changes_by_skill ON custom_skill_changes (skill, revision);

CREATE TABLE custom_skill_files (
    change INTEGER NOT NULL REFERENCES custom_skill_changes (key),
    place INTEGER NOT NULL,
    path TEXT NOT NULL,
    is_executable INTEGER NOT NULL,
    blob INTEGER NOT NULL REFERENCES blobs (key),
    PRIMARY KEY (change, place)
) STRICT, WITHOUT ROWID;

-- The last revision of every skill that was not deleted.
CREATE TABLE custom_skills (
    id BLOB PRIMARY KEY,
    revision INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A position is never given out again.
CREATE TABLE hubs (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    location TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX hubs_by_location ON hubs (kind, location);
CREATE INDEX hubs_by_enabled ON hubs (is_enabled, position);

CREATE TABLE api_keys (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner_user TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    document TEXT NOT NULL
) STRICT;

CREATE INDEX api_keys_by_created_at ON api_keys (created_at, place);
CREATE INDEX api_keys_by_owner_user ON api_keys (owner_user, created_at, place);

-- At most one row.
CREATE TABLE admin_token (
    key INTEGER PRIMARY KEY CHECK (key = 1),
    hash TEXT NOT NULL
) STRICT;

CREATE TABLE verdicts (
    key INTEGER PRIMARY KEY,
    content_hash TEXT NOT NULL,
    engine TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX verdicts_by_content_hash ON verdicts (content_hash, engine);

-- A severity is its place among all, from 0 for the least.
CREATE TABLE findings (
    key INTEGER PRIMARY KEY,
    verdict INTEGER NOT NULL REFERENCES verdicts (key),
    id BLOB NOT NULL,
    source_type TEXT NOT NULL,
    source_id TEXT,
    skill_id TEXT NOT NULL,
    content_revision TEXT NOT NULL,
    severity INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE INDEX findings_by_verdict ON findings (verdict, key);
CREATE INDEX findings_by_source ON findings (source_type, source_id, created_at, id);
CREATE INDEX findings_by_skill ON findings (skill_id, created_at, id);
CREATE INDEX findings_by_severity ON findings (severity, created_at, id);
CREATE INDEX findings_by_created_at ON findings (created_at, id);
CREATE INDEX findings_by_content ON findings (content_revision, created_at, id);

CREATE TABLE overrides (
    content_hash TEXT PRIMARY KEY,
    document TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (at, place);
CREATE INDEX audit_by_user ON audit (user, at, place);
CREATE INDEX audit_by_action ON audit (action, at, place);
CREATE INDEX audit_by_subject ON audit (subject, at, place);

-- At most one row: the number of the catalog, and the hash of its content.
CREATE TABLE catalog_generation (
    key INTEGER PRIMARY KEY CHECK (key = 1),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL
) STRICT;
