-- The teams of people, as the identity provider last told them.
CREATE TABLE people (
    id TEXT PRIMARY KEY,
    told_at INTEGER NOT NULL,
    teams TEXT NOT NULL
) STRICT, WITHOUT ROWID;
