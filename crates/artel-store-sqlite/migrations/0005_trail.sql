-- The trails of skills: when their files were first served, to whom they were offered, who took them up. Whom an entry is
-- about, and to whom it is private, is nothing when that is nobody.
CREATE TABLE trail (
    id BLOB PRIMARY KEY,
    at INTEGER NOT NULL,
    skill_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    about_user TEXT,
    private_to TEXT,
    document TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX trail_by_skill ON trail (skill_id, at, id);
CREATE INDEX trail_of_people ON trail (at, id) WHERE about_user IS NOT NULL;
