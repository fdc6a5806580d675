-- Agents and their logs, mailboxes, events of topics, dead letters, and who waits for whom.
-- What a state means is told by the columns `is_live` and `has_mailbox`; only the model knows it.

CREATE TABLE agents (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    parent BLOB,
    name TEXT,
    max_children INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    is_live INTEGER NOT NULL,
    has_mailbox INTEGER NOT NULL,
    last_active INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;

CREATE INDEX agents_by_created_at ON agents (created_at, id);
CREATE INDEX agents_by_state ON agents (state, created_at, id);
CREATE INDEX agents_by_parent ON agents (parent, created_at, id) WHERE parent IS NOT NULL;
CREATE INDEX agents_by_name ON agents (name, created_at, id) WHERE name IS NOT NULL;
CREATE INDEX agents_ended ON agents (last_active) WHERE is_live = 0;
CREATE INDEX agents_living ON agents (id) WHERE is_live = 1;
CREATE INDEX agents_living_by_parent ON agents (parent, created_at, id) WHERE parent IS NOT NULL AND is_live = 1;

-- What is known about agents. It may be long, so it lies apart from what changes with every word they say.
CREATE TABLE agent_records (
    agent INTEGER PRIMARY KEY REFERENCES agents (key),
    record TEXT NOT NULL
) STRICT;

CREATE TABLE agent_events (
    key INTEGER PRIMARY KEY,
    agent BLOB NOT NULL,
    revision INTEGER NOT NULL,
    event TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX agent_events_by_agent ON agent_events (agent, revision);

-- How many agents live: counting them for each one that is spawned would take longer and longer.
CREATE TABLE agent_totals (living INTEGER NOT NULL) STRICT;
INSERT INTO agent_totals VALUES (0);

-- Messages once, however many they are for. They are remembered for a while after they have left all mailboxes. The sender
-- is nothing for the system, the recipient for everybody.
CREATE TABLE messages (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    sender BLOB,
    recipient BLOB,
    kind TEXT NOT NULL,
    correlation BLOB,
    sent_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE INDEX messages_by_correlation ON messages (correlation) WHERE correlation IS NOT NULL;
CREATE INDEX messages_by_expiry ON messages (expires_at);

-- What lies in mailboxes, in the order it was posted.
CREATE TABLE deliveries (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL REFERENCES messages (key),
    recipient BLOB NOT NULL,
    priority INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    is_read INTEGER NOT NULL
) STRICT;

CREATE INDEX deliveries_by_mailbox ON deliveries (recipient, is_read, priority, sent_at, place);
CREATE INDEX deliveries_by_message ON deliveries (message, recipient);
CREATE INDEX deliveries_by_expiry ON deliveries (expires_at);
CREATE INDEX deliveries_unread_by_expiry ON deliveries (recipient, expires_at) WHERE is_read = 0;

-- How much lies unread in each mailbox, expired or not: counting it for each message would take longer and longer. Nothing
-- but the triggers writes it, whatever is done to deliveries.
CREATE TABLE mailboxes (agent BLOB PRIMARY KEY, unread INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TRIGGER deliveries_put AFTER INSERT ON deliveries WHEN NEW.is_read = 0 BEGIN
    INSERT INTO mailboxes (agent, unread) VALUES (NEW.recipient, 1) ON CONFLICT DO UPDATE SET unread = unread + 1;
END;

CREATE TRIGGER deliveries_marked AFTER UPDATE OF is_read ON deliveries WHEN NEW.is_read <> OLD.is_read BEGIN
    UPDATE mailboxes SET unread = unread + OLD.is_read - NEW.is_read WHERE agent = NEW.recipient;
END;

CREATE TRIGGER deliveries_removed AFTER DELETE ON deliveries WHEN OLD.is_read = 0 BEGIN
    UPDATE mailboxes SET unread = unread - 1 WHERE agent = OLD.recipient;
END;

CREATE TABLE dead_letters (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient BLOB,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    message TEXT NOT NULL
) STRICT;

CREATE INDEX dead_letters_by_time ON dead_letters (at, place);
CREATE INDEX dead_letters_by_recipient ON dead_letters (recipient, at, place);

-- How many dead letters there ever were.
CREATE TABLE dead_counts (reason TEXT PRIMARY KEY, letters INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE topic_events (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    topic TEXT NOT NULL,
    message TEXT NOT NULL
) STRICT;

CREATE INDEX topic_events_by_topic ON topic_events (topic, place);

CREATE TABLE waits (
    waiter BLOB NOT NULL,
    correlation BLOB NOT NULL,
    awaited BLOB NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (waiter, correlation)
) STRICT, WITHOUT ROWID;

CREATE INDEX waits_by_end ON waits (until);
