-- claim_cron() has another argument and returns more columns: the form without them would make calls ambiguous.
drop function if exists svc_private.claim_cron(text, text, timestamptz, text);
