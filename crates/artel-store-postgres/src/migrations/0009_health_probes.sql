-- Which run tries a skill again that failed too often: one at a time, named by the last failure.
CREATE TABLE health_probes (
    skill text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    since bigint NOT NULL,
    run text COLLATE "C" NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (skill, content_hash, since)
);
