-- The teams of people, as the identity provider last told them.
CREATE TABLE people (
    id text COLLATE "C" PRIMARY KEY,
    told_at bigint NOT NULL,
    teams text NOT NULL
);
