-- Failures are counted for each principal and each content of a skill. What was counted before becomes the local owner's.

CREATE TABLE health_counts (
    skill TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    principal TEXT NOT NULL,
    tally TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (skill, content_hash, principal)
) STRICT, WITHOUT ROWID;

INSERT INTO health_counts (skill, content_hash, principal, tally, at)
SELECT skill, content_hash, 'local', CASE health
    WHEN 'permanentFailure' THEN '6'
    WHEN 'temporaryFailure' THEN min(failures, 6) || 't'
    ELSE '' || min(failures, 6)
END, 0
FROM health WHERE health <> 'healthy' OR failures > 0;

DROP TABLE health;
