-- The shared catalog: skills that people saved, hubs, keys, what scanners and administrators said, and who changed what.
--
-- Documents are JSON; what they are found by, and what changes apart from them, lies in columns beside them. Texts that
-- somebody else chose are bytes, because a text here cannot hold every character.

-- Content by its SHA-256, so that the history of a skill does not copy what stays the same.
CREATE TABLE blobs (
    hash bytea PRIMARY KEY,
    content bytea NOT NULL
);

-- Every revision of a skill; the document is nothing where it was deleted.
CREATE TABLE custom_skill_changes (
    skill uuid NOT NULL,
    revision bigint NOT NULL,
    at bigint NOT NULL,
    by_user text NOT NULL,
    document text,
    PRIMARY KEY (skill, revision)
);

CREATE TABLE custom_skill_files (
    skill uuid NOT NULL,
    revision bigint NOT NULL,
    place bigint NOT NULL,
    path bytea NOT NULL,
    is_executable boolean NOT NULL,
    blob bytea NOT NULL,
    PRIMARY KEY (skill, revision, place)
);

-- The last revision of every skill that was not deleted.
CREATE TABLE custom_skills (
    id uuid PRIMARY KEY,
    revision bigint NOT NULL,
    content_hash bytea NOT NULL,
    created_at bigint NOT NULL
);

-- A position is never given out again.
CREATE TABLE hubs (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    kind text COLLATE "C" NOT NULL,
    location bytea NOT NULL,
    is_enabled boolean NOT NULL,
    document text NOT NULL,
    status text NOT NULL
);
-- By hash, because a long location would not fit an index.
CREATE UNIQUE INDEX hubs_location ON hubs (kind, sha256(location));
CREATE INDEX hubs_enabled ON hubs (is_enabled, position);

CREATE TABLE api_keys (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id bytea NOT NULL UNIQUE,
    owner_user text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint,
    document text NOT NULL
);
CREATE INDEX api_keys_created ON api_keys (created_at DESC, place DESC);
CREATE INDEX api_keys_owner_user ON api_keys (owner_user, created_at DESC, place DESC);

-- At most one row.
CREATE TABLE admin_token (
    key boolean PRIMARY KEY CHECK (key),
    hash bytea NOT NULL
);

CREATE TABLE verdicts (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    content_hash bytea NOT NULL,
    engine bytea NOT NULL,
    document text NOT NULL,
    UNIQUE (content_hash, engine)
);

-- A severity is its place among all, from 0 for the least.
CREATE TABLE findings (
    verdict bigint NOT NULL,
    place bigint NOT NULL,
    id uuid NOT NULL,
    source_type text COLLATE "C" NOT NULL,
    source_id bytea,
    skill_id bytea NOT NULL,
    content_revision bytea NOT NULL,
    severity bigint NOT NULL,
    created_at bigint NOT NULL,
    document text NOT NULL,
    PRIMARY KEY (verdict, place)
);
CREATE INDEX findings_source ON findings (source_type, source_id, created_at DESC, id DESC);
CREATE INDEX findings_skill ON findings (skill_id, created_at DESC, id DESC);
CREATE INDEX findings_severity ON findings (severity, created_at DESC, id DESC);
CREATE INDEX findings_created ON findings (created_at DESC, id DESC);
CREATE INDEX findings_content ON findings (content_revision, created_at DESC, id DESC);

CREATE TABLE overrides (
    content_hash bytea PRIMARY KEY,
    document text NOT NULL
);

CREATE TABLE audit (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    at bigint NOT NULL,
    by_user text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    subject bytea NOT NULL,
    document text NOT NULL
);
CREATE INDEX audit_at ON audit (at DESC, place DESC);
CREATE INDEX audit_by_user ON audit (by_user, at DESC, place DESC);
CREATE INDEX audit_action ON audit (action, at DESC, place DESC);
CREATE INDEX audit_subject ON audit (subject, at DESC, place DESC);

-- At most one row: the number of the catalog, and the hash of its content.
CREATE TABLE catalog_generation (
    key boolean PRIMARY KEY CHECK (key),
    number bigint NOT NULL,
    content_hash bytea NOT NULL
) WITH (fillfactor = 20);

-- Those who keep a skill, a hub or a key count how many there are, one after another.
INSERT INTO gates VALUES ('skills'), ('hubs'), ('keys');

-- Writes a revision of a skill, with its files.
CREATE FUNCTION keep_revision(
    the_id uuid,
    the_revision bigint,
    the_at bigint,
    the_user text,
    the_created_at bigint,
    the_content_hash bytea,
    the_document text,
    paths bytea[],
    executables boolean[],
    contents bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- In the order of their hashes: nobody waits in a circle.
    INSERT INTO blobs (hash, content)
    SELECT DISTINCT ON (sha256(content)) sha256(content), content
    FROM UNNEST(contents) AS content
    ORDER BY sha256(content)
    ON CONFLICT DO NOTHING;
    INSERT INTO custom_skill_changes (skill, revision, at, by_user, document)
    VALUES (the_id, the_revision, the_at, the_user, the_document);
    INSERT INTO custom_skill_files (skill, revision, place, path, is_executable, blob)
    SELECT the_id, the_revision, entry.place, entry.path, entry.is_executable, sha256(entry.content)
    FROM UNNEST(paths, executables, contents) WITH ORDINALITY AS entry (path, is_executable, content, place);
    INSERT INTO custom_skills (id, revision, content_hash, created_at)
    VALUES (the_id, the_revision, the_content_hash, the_created_at)
    ON CONFLICT (id) DO UPDATE SET
        revision = excluded.revision,
        content_hash = excluded.content_hash,
        created_at = excluded.created_at;
    PERFORM count_write();
END $$;

-- Keeps a skill in its first revision, unless it is refused.
CREATE FUNCTION create_skill(
    the_id uuid,
    the_at bigint,
    the_user text,
    the_created_at bigint,
    the_content_hash bytea,
    the_document text,
    paths bytea[],
    executables boolean[],
    contents bytea[],
    skills_max bigint,
    OUT refused text,
    OUT actual bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gates WHERE name = 'skills' FOR UPDATE;
    IF EXISTS (SELECT FROM custom_skill_changes WHERE skill = the_id) THEN
        refused := 'exists';
    ELSIF (SELECT count(*) FROM custom_skills) >= skills_max THEN
        refused := 'too_many';
    ELSE
        PERFORM keep_revision(
            the_id, 1, the_at, the_user, the_created_at, the_content_hash, the_document, paths, executables, contents
        );
    END IF;
END $$;

-- Keeps the next revision of a skill, unless it is not the next.
CREATE FUNCTION update_skill(
    the_id uuid,
    the_at bigint,
    the_user text,
    the_created_at bigint,
    the_content_hash bytea,
    the_document text,
    paths bytea[],
    executables boolean[],
    contents bytea[],
    expected bigint,
    OUT refused text,
    OUT actual bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT revision INTO actual FROM custom_skills WHERE id = the_id FOR UPDATE;
    IF NOT FOUND THEN
        refused := 'unknown';
    ELSIF actual <> expected THEN
        refused := 'conflict';
    ELSE
        PERFORM keep_revision(
            the_id, actual + 1, the_at, the_user, the_created_at, the_content_hash, the_document, paths, executables,
            contents
        );
    END IF;
END $$;

-- Removes a skill, whatever its revision when none is expected, and writes that into its history.
CREATE FUNCTION delete_skill(
    the_id uuid,
    the_at bigint,
    the_user text,
    expected bigint,
    OUT refused text,
    OUT actual bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT revision INTO actual FROM custom_skills WHERE id = the_id FOR UPDATE;
    IF NOT FOUND THEN
        refused := 'unknown';
    ELSIF actual <> expected THEN
        refused := 'conflict';
    ELSE
        INSERT INTO custom_skill_changes (skill, revision, at, by_user) VALUES (the_id, actual + 1, the_at, the_user);
        DELETE FROM custom_skills WHERE id = the_id;
        PERFORM count_write();
    END IF;
END $$;

-- Keeps a hub behind all others, and returns its position, unless it is refused.
CREATE FUNCTION create_hub(
    the_id uuid,
    the_kind text,
    the_location bytea,
    the_is_enabled boolean,
    the_document text,
    the_status text,
    hubs_max bigint,
    OUT refused text,
    OUT other text,
    OUT kept_at bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gates WHERE name = 'hubs' FOR UPDATE;
    SELECT id::text, position INTO other, kept_at FROM hubs
    WHERE id = the_id OR (kind = the_kind AND sha256(location) = sha256(the_location))
    ORDER BY kind = the_kind AND location = the_location DESC LIMIT 1;
    IF FOUND THEN
        refused := 'same';
    ELSIF (SELECT count(*) FROM hubs) >= hubs_max THEN
        refused := 'too_many';
    ELSE
        INSERT INTO hubs (id, kind, location, is_enabled, document, status)
        VALUES (the_id, the_kind, the_location, the_is_enabled, the_document, the_status)
        RETURNING position INTO kept_at;
        PERFORM count_write();
    END IF;
END $$;

-- Changes what somebody said of a hub.
CREATE FUNCTION update_hub(
    the_id uuid,
    the_kind text,
    the_location bytea,
    the_is_enabled boolean,
    the_document text,
    OUT refused text,
    OUT other text
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gates WHERE name = 'hubs' FOR UPDATE;
    IF NOT EXISTS (SELECT FROM hubs WHERE id = the_id) THEN
        refused := 'unknown';
        RETURN;
    END IF;
    SELECT id::text INTO other FROM hubs
    WHERE kind = the_kind AND sha256(location) = sha256(the_location) AND id <> the_id;
    IF FOUND THEN
        refused := 'same';
        RETURN;
    END IF;
    UPDATE hubs SET
        kind = the_kind,
        location = the_location,
        is_enabled = the_is_enabled,
        document = the_document
    WHERE id = the_id;
    PERFORM count_write();
END $$;

-- Keeps a key, unless its id is taken or its owner has as many good ones as they may have.
CREATE FUNCTION create_key(
    the_id bytea,
    the_owner text,
    the_created_at bigint,
    the_expires_at bigint,
    the_revoked_at bigint,
    the_last_used_at bigint,
    the_document text,
    keys_max bigint,
    OUT is_kept boolean
) LANGUAGE plpgsql AS $$
DECLARE
    good bigint;
BEGIN
    PERFORM FROM gates WHERE name = 'keys' FOR UPDATE;
    SELECT count(*) INTO good FROM api_keys
    WHERE owner_user = the_owner AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > the_created_at);
    is_kept := good < keys_max AND NOT EXISTS (SELECT FROM api_keys WHERE id = the_id);
    IF is_kept THEN
        INSERT INTO api_keys (id, owner_user, created_at, expires_at, revoked_at, last_used_at, document)
        VALUES (
            the_id, the_owner, the_created_at, the_expires_at, the_revoked_at, the_last_used_at, the_document
        );
        PERFORM count_write();
    END IF;
END $$;

-- Keeps what an engine said, instead of what it said before of the same files.
CREATE FUNCTION set_verdict(
    the_content_hash bytea,
    the_engine bytea,
    the_document text,
    ids uuid[],
    source_types text[],
    source_ids bytea[],
    skill_ids bytea[],
    content_revisions bytea[],
    severities bigint[],
    moments bigint[],
    documents text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kept bigint;
BEGIN
    -- Whoever scans the same files waits here, and then sees these findings.
    INSERT INTO verdicts (content_hash, engine, document) VALUES (the_content_hash, the_engine, the_document)
    ON CONFLICT (content_hash, engine) DO UPDATE SET document = excluded.document
    RETURNING key INTO kept;
    DELETE FROM findings WHERE verdict = kept;
    INSERT INTO findings (
        verdict, place, id, source_type, source_id, skill_id, content_revision, severity, created_at, document
    )
    SELECT
        kept, entry.place, entry.id, entry.source_type, entry.source_id, entry.skill_id, entry.content_revision,
        entry.severity, entry.moment, entry.document
    FROM UNNEST(
        ids, source_types, source_ids, skill_ids, content_revisions, severities, moments, documents
    ) WITH ORDINALITY AS entry (
        id, source_type, source_id, skill_id, content_revision, severity, moment, document, place
    );
    PERFORM count_write();
END $$;
