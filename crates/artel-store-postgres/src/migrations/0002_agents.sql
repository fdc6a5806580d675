-- Agents and their logs, mailboxes, events of topics, dead letters, and who waits for whom.
--
-- What looks before it writes is a function: each of its statements sees what was committed before it, so that what it
-- counts after it has a lock is true until it ends. A call is still one statement: atomic, one round trip.
--
-- Locks are taken in the order agents by id, deliveries by place, the number of the living, write count: nobody waits
-- in a circle. What a state means is told by the columns `is_live` and `has_mailbox`; only the model knows it.

CREATE TABLE agents (
    id uuid PRIMARY KEY,
    parent uuid,
    -- As bytes, because a text cannot hold every character.
    name bytea,
    max_children bigint NOT NULL,
    created_at bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    is_live boolean NOT NULL,
    has_mailbox boolean NOT NULL,
    last_active bigint NOT NULL,
    revision bigint NOT NULL,
    record text NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX agents_created ON agents (created_at DESC, id DESC);
CREATE INDEX agents_state ON agents (state, created_at DESC, id DESC);
CREATE INDEX agents_parent ON agents (parent, created_at DESC, id DESC) WHERE parent IS NOT NULL;
CREATE INDEX agents_name ON agents (name, created_at DESC, id DESC) WHERE name IS NOT NULL;
CREATE INDEX agents_living ON agents (id) WHERE is_live;
CREATE INDEX agents_ended ON agents (id) WHERE NOT is_live;

CREATE TABLE agent_events (
    agent uuid NOT NULL,
    revision bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (agent, revision)
);

-- How many agents live, in one row: counting them for each one that is spawned would take longer and longer.
CREATE TABLE agent_totals (living bigint NOT NULL) WITH (fillfactor = 20);
INSERT INTO agent_totals VALUES (0);

-- Messages once, however many they are for. They are remembered for a while after they have left all mailboxes.
CREATE TABLE messages (
    id uuid PRIMARY KEY,
    -- Nothing for the system.
    sender uuid,
    -- Nothing for everybody.
    recipient uuid,
    kind text COLLATE "C" NOT NULL,
    correlation uuid,
    sent_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    document text NOT NULL
);
CREATE INDEX messages_correlation ON messages (correlation) WHERE correlation IS NOT NULL;
CREATE INDEX messages_expires ON messages (expires_at);

-- What lies in mailboxes.
CREATE TABLE deliveries (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message uuid NOT NULL,
    recipient uuid NOT NULL,
    priority bigint NOT NULL,
    sent_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    is_read boolean NOT NULL DEFAULT false,
    UNIQUE (message, recipient)
);
CREATE INDEX deliveries_mailbox ON deliveries (recipient, priority, sent_at, place);
CREATE INDEX deliveries_unread ON deliveries (recipient, priority, sent_at, place) INCLUDE (expires_at)
    WHERE NOT is_read;
CREATE INDEX deliveries_expires ON deliveries (expires_at);

CREATE TABLE dead_letters (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recipient uuid,
    reason text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    message text NOT NULL
);
CREATE INDEX dead_letters_at ON dead_letters (at DESC, place DESC);
CREATE INDEX dead_letters_recipient ON dead_letters (recipient, at DESC, place DESC);

-- How many dead letters were removed.
CREATE TABLE dead_removed (
    reason text COLLATE "C" PRIMARY KEY,
    letters bigint NOT NULL
);

CREATE TABLE topic_events (
    place bigint PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    topic text COLLATE "C" NOT NULL,
    message text NOT NULL
);
CREATE INDEX topic_events_topic ON topic_events (topic, place);

-- The last place that was given out. Who keeps an event holds it until the event can be seen, so that nobody sees a
-- later event first and misses this one.
CREATE TABLE topic_places (last bigint NOT NULL) WITH (fillfactor = 20);
INSERT INTO topic_places VALUES (0);

CREATE TABLE waits (
    waiter uuid NOT NULL,
    correlation uuid NOT NULL,
    awaited uuid NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (waiter, correlation)
);
CREATE INDEX waits_until ON waits (until);

-- A row is held by who does something that nobody else may do at the same time.
CREATE TABLE gates (name text PRIMARY KEY) WITH (fillfactor = 20);
INSERT INTO gates VALUES ('sweep'), ('wait');

CREATE FUNCTION count_write() RETURNS void LANGUAGE sql AS $$
    UPDATE write_counts SET writes = writes + 1 WHERE slot = pg_backend_pid() % 64
$$;

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
        id, parent, name, max_children, created_at, state, is_live, has_mailbox, last_active, revision, record
    ) VALUES (
        new_id, new_parent, new_name, new_max_children, new_created_at, new_state, new_is_live, new_has_mailbox,
        new_last_active, 1, new_record
    ) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        refused := 'exists';
        RETURN;
    END IF;
    INSERT INTO agent_events (agent, revision, event) VALUES (new_id, 1, new_event);
    UPDATE agent_totals SET living = living + new_is_live::integer;
    PERFORM count_write();
END $$;

-- Adds events to an agent's log and changes its record, and returns where the log ends; nothing for an agent that is
-- not there. When it did not end where it was expected to, nothing is written.
CREATE FUNCTION append_agent(
    the_id uuid,
    expected bigint,
    new_events text[],
    new_state text,
    new_is_live boolean,
    new_has_mailbox boolean,
    new_last_active bigint,
    new_record text,
    OUT is_written boolean,
    OUT ending bigint
) LANGUAGE plpgsql AS $$
DECLARE
    was_live boolean;
BEGIN
    is_written := false;
    SELECT revision, is_live INTO ending, was_live FROM agents WHERE id = the_id FOR NO KEY UPDATE;
    IF ending IS DISTINCT FROM expected THEN
        RETURN;
    END IF;
    ending := expected + cardinality(new_events);
    UPDATE agents SET
        revision = ending,
        state = new_state,
        is_live = new_is_live,
        has_mailbox = new_has_mailbox,
        last_active = new_last_active,
        record = new_record
    WHERE id = the_id;
    INSERT INTO agent_events (agent, revision, event)
    SELECT the_id, expected + entry.place, entry.event
    FROM UNNEST(new_events) WITH ORDINALITY AS entry (event, place);
    IF NOT new_has_mailbox THEN
        PERFORM bury_unread(ARRAY[the_id], new_last_active);
    END IF;
    IF was_live <> new_is_live THEN
        UPDATE agent_totals SET living = living + new_is_live::integer - was_live::integer;
    END IF;
    PERFORM count_write();
    is_written := true;
END $$;

-- Removes about `count_max` agents that ended before a moment and have no children, children before their parents, and
-- returns how many. An agent that somebody writes to at the same time is left to the next call.
CREATE FUNCTION prune_agents(moment bigint, count_max bigint, OUT removed bigint) LANGUAGE plpgsql AS $$
DECLARE
    gone uuid[] := '{}';
    layer uuid[];
BEGIN
    LOOP
        SELECT array_agg(id) INTO layer FROM (
            SELECT id FROM agents AS old
            WHERE NOT is_live AND last_active < moment
                AND NOT EXISTS (SELECT FROM agents AS child WHERE child.parent = old.id)
            ORDER BY id
            LIMIT count_max
            FOR UPDATE SKIP LOCKED
        ) AS ended;
        EXIT WHEN layer IS NULL;
        -- A child may have come before its parent was locked.
        WITH childless AS (
            DELETE FROM agents AS old
            WHERE id = ANY (layer) AND NOT EXISTS (SELECT FROM agents AS child WHERE child.parent = old.id)
            RETURNING id
        )
        SELECT gone || COALESCE(array_agg(id), '{}') INTO gone FROM childless;
        EXIT WHEN cardinality(gone) >= count_max;
    END LOOP;
    removed := cardinality(gone);
    IF removed > 0 THEN
        DELETE FROM agent_events WHERE agent = ANY (gone);
        PERFORM bury_unread(gone, moment);
        DELETE FROM deliveries WHERE recipient = ANY (gone);
        PERFORM count_write();
    END IF;
END $$;

-- Makes dead letters of what lies unread in mailboxes.
CREATE FUNCTION bury_unread(owners uuid[], moment bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM deliveries WHERE recipient = ANY (owners) AND NOT is_read ORDER BY place FOR UPDATE;
    WITH gone AS (
        DELETE FROM deliveries WHERE recipient = ANY (owners) AND NOT is_read
        RETURNING place, message, recipient, expires_at
    )
    INSERT INTO dead_letters (recipient, reason, at, message)
    SELECT
        gone.recipient,
        CASE WHEN gone.expires_at <= moment THEN 'expired' ELSE 'recipient_ended' END,
        moment,
        messages.document
    FROM gone JOIN messages ON messages.id = gone.message
    ORDER BY gone.place;
END $$;

-- Says whether somebody asked somebody else something, with that correlation. The system is nobody.
CREATE FUNCTION has_asked(asker uuid, answerer uuid, asked uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM messages
        WHERE correlation = asked AND kind = 'request' AND sender = asker
            AND (recipient = answerer OR (recipient IS NULL AND answerer <> asker))
    )
$$;

-- Puts a message into the mailbox of one agent, or of every living agent but its sender when no recipient is given.
CREATE FUNCTION post_message(
    the_id uuid,
    the_sender uuid,
    the_recipient uuid,
    the_kind text,
    the_correlation uuid,
    the_priority bigint,
    the_sent_at bigint,
    the_expires_at bigint,
    the_document text,
    is_answer boolean,
    answered uuid,
    moment bigint,
    mailbox_max bigint,
    OUT outcome text,
    OUT recipient_state text,
    OUT reached text[]
) LANGUAGE plpgsql AS $$
DECLARE
    is_open boolean;
    recipients uuid[];
    full_ones uuid[];
BEGIN
    IF EXISTS (SELECT FROM messages WHERE id = the_id) THEN
        outcome := 'duplicate';
        RETURN;
    END IF;
    IF the_sender IS NOT NULL THEN
        SELECT has_mailbox INTO is_open FROM agents WHERE id = the_sender;
        IF NOT FOUND THEN
            outcome := 'unknown_sender';
            RETURN;
        ELSIF NOT is_open THEN
            outcome := 'sender_ended';
            RETURN;
        END IF;
    END IF;
    -- Whoever gets the message can neither end nor get another one before this is written.
    IF the_recipient IS NOT NULL THEN
        SELECT has_mailbox, state INTO is_open, recipient_state
        FROM agents WHERE id = the_recipient FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            outcome := 'unknown_recipient';
            RETURN;
        ELSIF NOT is_open THEN
            outcome := 'recipient_ended';
            RETURN;
        END IF;
        recipients := ARRAY[the_recipient];
    ELSE
        SELECT COALESCE(array_agg(id), '{}') INTO recipients FROM (
            SELECT id FROM agents WHERE is_live AND id IS DISTINCT FROM the_sender
            ORDER BY id
            FOR NO KEY UPDATE
        ) AS living;
    END IF;
    IF is_answer AND NOT has_asked(the_recipient, the_sender, answered) THEN
        outcome := 'no_request';
        RETURN;
    END IF;
    SELECT COALESCE(array_agg(agent ORDER BY agent), '{}') INTO full_ones
    FROM UNNEST(recipients) AS agent
    WHERE mailbox_max <= (
        SELECT count(*) FROM deliveries WHERE recipient = agent AND NOT is_read AND expires_at > moment
    );
    IF the_recipient = ANY (full_ones) THEN
        outcome := 'full';
        RETURN;
    END IF;
    INSERT INTO messages (id, sender, recipient, kind, correlation, sent_at, expires_at, document)
    VALUES (
        the_id, the_sender, the_recipient, the_kind, the_correlation, the_sent_at, the_expires_at, the_document
    ) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := 'duplicate';
        RETURN;
    END IF;
    INSERT INTO deliveries (message, recipient, priority, sent_at, expires_at)
    SELECT the_id, agent, the_priority, the_sent_at, the_expires_at
    FROM UNNEST(recipients) AS agent
    WHERE agent <> ALL (full_ones)
    ORDER BY agent;
    INSERT INTO dead_letters (recipient, reason, at, message)
    SELECT agent, 'mailbox_full', moment, the_document FROM UNNEST(full_ones) AS agent ORDER BY agent;
    PERFORM count_write();
    outcome := 'delivered';
    SELECT COALESCE(array_agg(agent::text ORDER BY agent), '{}') INTO reached
    FROM UNNEST(recipients) AS agent WHERE agent <> ALL (full_ones);
END $$;

-- Removes at most `count_max` expired deliveries; those that nobody read become dead letters. When there are no more of
-- them, forgets messages that expired until `forgotten` and removes dead letters beyond `dead_max`.
CREATE FUNCTION sweep_mail(
    moment bigint,
    forgotten bigint,
    dead_max bigint,
    count_max bigint,
    OUT removed bigint,
    OUT died bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gates WHERE name = 'sweep' FOR UPDATE;
    -- A delivery that is just being read is left to the next call.
    WITH expired AS (
        SELECT place FROM deliveries WHERE expires_at <= moment
        ORDER BY place
        LIMIT count_max
        FOR UPDATE SKIP LOCKED
    ),
    gone AS (
        DELETE FROM deliveries USING expired WHERE deliveries.place = expired.place
        RETURNING deliveries.place, deliveries.message, deliveries.recipient, deliveries.is_read
    ),
    dead AS (
        INSERT INTO dead_letters (recipient, reason, at, message)
        SELECT gone.recipient, 'expired', moment, messages.document
        FROM gone JOIN messages ON messages.id = gone.message
        WHERE NOT gone.is_read
        ORDER BY gone.place
    )
    SELECT count(*), count(*) FILTER (WHERE NOT is_read) INTO removed, died FROM gone;
    IF removed < count_max THEN
        DELETE FROM messages
        WHERE expires_at <= forgotten AND NOT EXISTS (SELECT FROM deliveries WHERE message = messages.id);
        WITH old AS (
            SELECT place FROM dead_letters ORDER BY at DESC, place DESC OFFSET dead_max
        ),
        gone AS (
            DELETE FROM dead_letters USING old WHERE dead_letters.place = old.place RETURNING reason
        )
        INSERT INTO dead_removed AS kept (reason, letters)
        SELECT reason, count(*) FROM gone GROUP BY reason
        ON CONFLICT (reason) DO UPDATE SET letters = kept.letters + excluded.letters;
    END IF;
    PERFORM count_write();
END $$;

-- Keeps an event of a topic and returns its place.
CREATE FUNCTION keep_event(the_id uuid, the_topic text, the_message text, keep_max bigint, OUT kept_at bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM topic_places FOR UPDATE;
    SELECT place INTO kept_at FROM topic_events WHERE id = the_id;
    IF FOUND THEN
        RETURN;
    END IF;
    UPDATE topic_places SET last = last + 1 RETURNING last INTO kept_at;
    INSERT INTO topic_events (place, id, topic, message) VALUES (kept_at, the_id, the_topic, the_message);
    DELETE FROM topic_events
    WHERE place <= (SELECT place FROM topic_events ORDER BY place DESC OFFSET keep_max LIMIT 1);
    PERFORM count_write();
END $$;

-- Notes that somebody waits. When that would close a ring nothing is noted, and all waits that can be part of it are
-- returned.
CREATE FUNCTION begin_wait(
    the_waiter uuid,
    the_correlation uuid,
    the_awaited uuid,
    the_since bigint,
    the_until bigint,
    moment bigint,
    OUT is_ring boolean,
    OUT waiters text[],
    OUT awaited_ones text[]
) LANGUAGE plpgsql AS $$
DECLARE
    reached uuid[];
BEGIN
    PERFORM FROM gates WHERE name = 'wait' FOR UPDATE;
    WITH RECURSIVE reach (agent) AS (
        SELECT the_awaited
        UNION
        SELECT waits.awaited FROM waits JOIN reach ON waits.waiter = reach.agent WHERE waits.until > moment
    )
    SELECT array_agg(agent) INTO reached FROM reach;
    is_ring := the_waiter = ANY (reached);
    IF is_ring THEN
        SELECT array_agg(waiter::text), array_agg(awaited::text) INTO waiters, awaited_ones
        FROM waits WHERE waiter = ANY (reached) AND until > moment;
        RETURN;
    END IF;
    DELETE FROM waits WHERE until <= moment;
    INSERT INTO waits (waiter, correlation, awaited, since, until)
    VALUES (the_waiter, the_correlation, the_awaited, the_since, the_until)
    ON CONFLICT (waiter, correlation) DO UPDATE SET
        awaited = excluded.awaited,
        since = excluded.since,
        until = excluded.until;
    PERFORM count_write();
END $$;
