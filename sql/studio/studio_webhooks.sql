-- The webhooks of the application for Studio, and how many deliveries are pending or dead, up to 1,000 of each.

create or replace function svc_private.studio_webhooks()
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object(
    'webhooks', coalesce((
      select json_agg(json_build_object('name', w.declared ->> 'name', 'table', w.relation::text, 'when', w.declared -> 'when',
               'receiver', coalesce(w.declared ->> 'env', w.declared ->> 'procedure',
                 (to_regclass(w.declared #>> '{endpoints,table}'))::text),
               'isEnv', not w.declared ? 'endpoints', 'isProcedure', w.declared ? 'procedure') order by w.name)
        from (select distinct on (l.name) l.* from svc_private.list_webhooks() l order by l.name) w), '[]'),
    'pending', (select count(*) from (select from svc.webhook_deliveries d where d.state = 'pending' limit 1000) n),
    'dead', (select count(*) from (select from svc.webhook_deliveries d where d.state = 'dead' limit 1000) n))
$$;

comment on function svc_private.studio_webhooks() is
  'Declared webhooks, and the numbers of pending and dead deliveries. Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_webhooks() to svc_studio_read;
