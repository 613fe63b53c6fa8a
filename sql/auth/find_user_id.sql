-- The id of a user by id or e-mail address, for operators: `--as` of the command line (src/cli/inspect.ts) and seeds
-- (src/service/seed.ts).
--
-- Addresses are stored in lower case. The locale "C" knows the letters of ASCII, so that I becomes i in Turkish
-- databases, too. The locale of the database knows the others.

create or replace function auth.find_user_id(name text)
returns text
language sql
stable
set search_path = ''
as $$
  select u.id
    from auth."user" u
   where u.id = find_user_id.name or u.email = lower(lower(find_user_id.name collate "C") collate "default")
   order by u.id = find_user_id.name desc
   limit 1
$$;

comment on function auth.find_user_id(text) is
  'The id of the user with this id or e-mail address; null if there is none.';
