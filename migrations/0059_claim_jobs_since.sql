-- claim_job() and claim_jobs() have another argument: the forms without it would make calls ambiguous.
drop function if exists svc_private.claim_jobs(text, integer[], integer);
drop function if exists svc_private.claim_job(text, integer[]);
