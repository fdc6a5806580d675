-- Which run tries a skill again that failed too often: one at a time, named by the last failure.
CREATE TABLE health_probes (
    skill TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    since INTEGER NOT NULL,
    run TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (skill, content_hash, since)
) STRICT, WITHOUT ROWID;
