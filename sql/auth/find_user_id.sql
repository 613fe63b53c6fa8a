-- The id of a user by id or e-mail address, for operators: `--as` of the command line (src/cli/inspect.ts) and seeds
-- (src/service/seed.ts).

create or replace function auth.find_user_id(name text)
returns text
language sql
stable
set search_path = ''
as $$
  select u.id
    from auth."user" u
   where u.id = find_user_id.name or u.email = svc_private.lower_address(find_user_id.name)
   order by u.id = find_user_id.name desc
   limit 1
$$;

comment on function auth.find_user_id(text) is
  'The id of the user with this id or e-mail address; null if there is none.';
