-- Returns the first answer to the request $2 that lies unread with $1 and is not expired at $3.
SELECT deliveries.place, messages.document
FROM messages
JOIN deliveries ON deliveries.message = messages.id AND deliveries.recipient = $1
WHERE messages.correlation = $2
    AND NOT deliveries.is_read
    AND deliveries.expires_at > $3
    AND (
        messages.kind = 'response'
        OR (messages.kind = 'error' AND (messages.sender IS NULL OR has_asked($1, messages.sender, $2)))
    )
ORDER BY deliveries.priority, deliveries.sent_at, deliveries.place
LIMIT 1
