-- Failures are counted for each principal and each content of a skill. What was counted before becomes the local owner's.

CREATE TABLE health_counts (
    skill text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    tally text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (skill, content_hash, principal)
);

INSERT INTO health_counts (skill, content_hash, principal, tally, at)
SELECT skill, content_hash, 'local', CASE split_part(health, ' ', 1)
    WHEN 'permanentFailure' THEN '6'
    WHEN 'temporaryFailure' THEN split_part(health, ' ', 2) || 't'
    ELSE split_part(health, ' ', 2)
END, 0
FROM skill_health WHERE health <> 'healthy 0';

DROP TABLE skill_health;
