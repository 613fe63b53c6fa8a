-- What a file of policies/ has set up, so that one whose text and effect are unchanged is not applied again after every migration:
-- that would lock its table against everybody until the migration commits.

alter table svc_private.applied_sql add column state text;

comment on column svc_private.applied_sql.state is
  'Of a file of policies/: svc_private.access_state() of its table when it had been applied. Null: not known.';
