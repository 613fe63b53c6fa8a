-- Usage of the AI ledger by day (UTC), user and model, for `svc ai usage`. Read as svc_system, which no policy
-- restricts.
--
-- The result also includes reservations that have neither ended nor expired: the cap counts both.

create or replace function svc_private.list_usage(only_user text, only_model text, days integer, most integer)
returns table (
  day date, user_id text, email text, model text, calls bigint, input_tokens bigint, output_tokens bigint,
  charged numeric, reserved numeric
)
language sql
stable
set search_path = ''
as $$
  select (l.created_at at time zone 'UTC')::date as day, l.user_id, u.email, l.model,
         count(*) filter (where l.state <> 'released'),
         coalesce(sum(l.input_tokens), 0), coalesce(sum(l.output_tokens), 0), coalesce(sum(l.charged), 0),
         coalesce(sum(l.reserved) filter (where l.state = 'reserved' and l.expires_at > now()), 0)
    from svc.ai_ledger l
    left join auth."user" u on u.id = l.user_id
   where (only_user is null or l.user_id = only_user or u.email = (select svc_private.lower_address(only_user)))
     and (only_model is null or l.model = only_model)
     and l.created_at >= (date_trunc('day', now() at time zone 'UTC') - make_interval(days => list_usage.days - 1)) at time zone 'UTC'
   group by 1, 2, 3, 4
   order by 1 desc, 8 desc, 2 nulls first, 4
   limit most
$$;

comment on function svc_private.list_usage(text, text, integer, integer) is
  'Calls, tokens and credits of the AI ledger by day, user and model, the latest day first.';
