-- claim_cron() and claim_run() have another argument: the forms without it would make calls ambiguous.
drop function if exists svc_private.claim_cron(text, text, timestamptz, text);
drop function if exists svc_private.claim_run(uuid, bigint, timestamptz, bigint[]);
