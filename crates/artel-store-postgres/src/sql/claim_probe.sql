-- Takes the probe of some files, unless another run has it. The same run may take it again, so a lost answer does no harm.
WITH ended AS (
    DELETE FROM health_probes WHERE skill = $1 AND content_hash = $2 AND since < $3 AND until <= $6
)
INSERT INTO health_probes (skill, content_hash, since, run, until)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (skill, content_hash, since) DO UPDATE SET run = excluded.run, until = excluded.until
    WHERE health_probes.until <= $6 OR health_probes.run = excluded.run
RETURNING run
