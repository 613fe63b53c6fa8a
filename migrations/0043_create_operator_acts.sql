-- What operators did: one line per act, written in the commit of the act (sql/studio/note_act.sql).

create table svc.operator_acts (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  login text not null default session_user,
  via text not null,
  act text not null,
  arguments jsonb not null,
  outcome text not null
);

alter table svc.operator_acts enable row level security;

comment on table svc.operator_acts is
  'One line per act of an operator, in the commit of the act. No login may change or remove one.';
comment on column svc.operator_acts.login is 'The database login that acted.';
comment on column svc.operator_acts.via is 'The program, from application_name: svc command, svc studio, or psql.';
comment on column svc.operator_acts.act is 'The name of the SQL function, such as act_retry_job.';
comment on column svc.operator_acts.outcome is 'What the function answered.';

-- The default privileges of sql/schemas.sql would let the system write lines.
revoke all on svc.operator_acts from svc_system;
grant select on svc.operator_acts to svc_system;
