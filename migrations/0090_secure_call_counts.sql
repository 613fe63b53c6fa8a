-- 0088 forgot it, so that each installation reported a repair.

alter table svc_private.call_counts enable row level security;
