-- Whose runs and agents are. What nobody owns was started by whoever has the database.

ALTER TABLE runs ADD COLUMN owner_user text COLLATE "C";
ALTER TABLE executions ADD COLUMN owner_user text COLLATE "C";
ALTER TABLE agents ADD COLUMN owner_user text COLLATE "C";

CREATE INDEX runs_owner_user ON runs (owner_user, created_at DESC, id DESC) WHERE owner_user IS NOT NULL;
CREATE INDEX executions_owner_user ON executions (owner_user, started_at DESC, id DESC) WHERE owner_user IS NOT NULL;
CREATE INDEX agents_owner_user ON agents (owner_user, created_at DESC, id DESC) WHERE owner_user IS NOT NULL;

DROP FUNCTION create_agent(
    uuid, uuid, bytea, bigint, bigint, text, boolean, boolean, bigint, text, text, text[], bigint
);

-- Keeps an agent and its first event, unless it is refused.
CREATE FUNCTION create_agent(
    new_id uuid,
    new_parent uuid,
    new_name bytea,
    new_max_children bigint,
    new_created_at bigint,
    new_state text,
    new_is_live boolean,
    new_has_mailbox boolean,
    new_last_active bigint,
    new_record text,
    new_event text,
    parent_states text[],
    agents_max bigint,
    new_owner_user text,
    OUT refused text,
    OUT parent_state text,
    OUT number bigint
) LANGUAGE plpgsql AS $$
DECLARE
    children_max bigint;
BEGIN
    IF EXISTS (SELECT FROM agents WHERE id = new_id) THEN
        refused := 'exists';
        RETURN;
    END IF;
    IF new_parent IS NOT NULL THEN
        SELECT state, max_children INTO parent_state, children_max
        FROM agents WHERE id = new_parent FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            refused := 'no_parent';
            RETURN;
        END IF;
        IF parent_state <> ALL (parent_states) THEN
            refused := 'parent_state';
            RETURN;
        END IF;
        SELECT count(*) INTO number FROM agents WHERE parent = new_parent AND is_live;
        IF number >= children_max THEN
            refused := 'children';
            RETURN;
        END IF;
    END IF;
    SELECT living INTO number FROM agent_totals FOR UPDATE;
    IF number >= agents_max THEN
        refused := 'agents';
        RETURN;
    END IF;
    INSERT INTO agents (
        id, parent, name, max_children, created_at, state, is_live, has_mailbox, last_active, revision, record,
        owner_user
    ) VALUES (
        new_id, new_parent, new_name, new_max_children, new_created_at, new_state, new_is_live, new_has_mailbox,
        new_last_active, 1, new_record, new_owner_user
    ) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        refused := 'exists';
        RETURN;
    END IF;
    INSERT INTO agent_events (agent, revision, event) VALUES (new_id, 1, new_event);
    UPDATE agent_totals SET living = living + new_is_live::integer;
    PERFORM count_write();
END $$;
