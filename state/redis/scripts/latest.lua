-- Reads a plan's line. KEYS: plan. Answers with the time and the line.
return {text(now()), redis.call('GETRANGE', KEYS[1], 0, 65)}
