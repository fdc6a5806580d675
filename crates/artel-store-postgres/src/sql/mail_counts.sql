-- Counts what lies in mailboxes, and dead letters by their reason, those that were removed included.
SELECT 'unread', count(*) FROM deliveries WHERE NOT is_read
UNION ALL
SELECT 'read', count(*) FROM deliveries WHERE is_read
UNION ALL
SELECT reason, sum(letters)::bigint
FROM (
    SELECT reason, count(*) AS letters FROM dead_letters GROUP BY reason
    UNION ALL
    SELECT reason, letters FROM dead_removed
) AS dead
GROUP BY reason
