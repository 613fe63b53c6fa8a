-- Usage of the AI ledger by day, user and model, for Studio (sql/ai/list_usage.sql).

create or replace function svc_private.studio_usage(days integer, most integer)
returns table (
  day text, user_id text, email text, model text, calls bigint, input_tokens bigint, output_tokens bigint,
  charged numeric, reserved numeric
)
language sql
stable
security definer
set search_path = ''
as $$
  select l.day::text, l.user_id, l.email, l.model, l.calls, l.input_tokens, l.output_tokens, l.charged, l.reserved
    from svc_private.list_usage(null, null, days, most) l
$$;

comment on function svc_private.studio_usage(integer, integer) is
  'Calls, tokens and credits of the AI ledger by day, user and model. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_usage(integer, integer) to svc_studio_read;
