-- The trails of skills: when their files were first served, to whom they were offered, who took them up. Whom an entry is
-- about, and to whom it is private, is nothing when that is nobody.
CREATE TABLE trail (
    id uuid PRIMARY KEY,
    at bigint NOT NULL,
    skill_id bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    about_user text COLLATE "C",
    private_to text COLLATE "C",
    document text NOT NULL
);
-- By hash, because a long id would not fit an index.
CREATE INDEX trail_skill ON trail (sha256(skill_id), at DESC, id DESC);
CREATE INDEX trail_of_people ON trail (at, id) WHERE about_user IS NOT NULL;
