-- svc_private.claim_run() takes more arguments, and its old form would stay beside the new one. Workers of the version before call
-- it with the run alone, which the new one takes as well.

drop function if exists svc_private.claim_run(uuid);
