-- The caller's teams, by table of memberships: [["1", "7"], …] for [{schema, table, team, user, isUuid}, …]. A watched query
-- that reads a table of teams follows the rows of these alone (src/realtime/caller-teams.ts).
--
-- The select is that of memberRls(), and runs as the caller: what the policies of the memberships hide is no team of theirs
-- here either. Each list has at most 100 teams; one more says that there are too many to name.

create or replace function svc.caller_teams(scopes jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  scope jsonb;
  teams jsonb;
  found jsonb := '[]';
begin
  for scope in select s.value from jsonb_array_elements(scopes) as s loop
    execute format(
      'select coalesce(jsonb_agg(team order by team), ''[]'') from (
         select distinct %1$I::text as team from %2$I.%3$I
          where %4$I = (select svc.current_user_id())%5$s and %1$I is not null limit 101) as teams',
      scope ->> 'team', scope ->> 'schema', scope ->> 'table', scope ->> 'user',
      case when (scope ->> 'isUuid')::boolean then '::uuid' end) into teams;
    found := found || jsonb_build_array(teams);
  end loop;
  return found;
end
$$;

-- The login needs it too: PostgreSQL checks the right before the statement changes to the role.
grant execute on function svc.caller_teams(jsonb) to svc_request, svc_authenticated;

comment on function svc.caller_teams(jsonb) is
  'The teams of the caller in tables of memberships [{schema, table, team, user, isUuid}], at most 101 of each, as the caller.';
