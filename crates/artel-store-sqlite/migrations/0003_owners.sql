-- Whose runs and agents are. What nobody owns was started by whoever has the data folder.

ALTER TABLE runs ADD COLUMN owner_user TEXT;
ALTER TABLE executions ADD COLUMN owner_user TEXT;
ALTER TABLE agents ADD COLUMN owner_user TEXT;

CREATE INDEX runs_by_owner_user ON runs (owner_user, created_at, id) WHERE owner_user IS NOT NULL;
CREATE INDEX executions_by_owner_user ON executions (owner_user, started_at, id) WHERE owner_user IS NOT NULL;
CREATE INDEX agents_by_owner_user ON agents (owner_user, created_at, id) WHERE owner_user IS NOT NULL;
