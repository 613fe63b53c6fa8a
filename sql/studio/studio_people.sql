-- Users by id, or by the beginning of their e-mail address, with the numbers of their live sessions, in the order of their
-- addresses, for Studio's panel People. `next` pages: addresses after it.
--
-- The upper bound ends the look-up in the index: by starts_with() alone it would go on to the last user.

create or replace function svc_private.studio_people(search text, next text, most integer)
returns table (
  id text, email text, name text, email_verified boolean, created_at timestamptz, sessions bigint, providers text[]
)
language sql
stable
security definer
set search_path = ''
as $$
  select u.id, u.email, u.name, u.email_verified, u.created_at,
         (select count(*) from auth.session s where s.user_id = u.id and s.expires_at > now()),
         array(select a.provider_id from auth.account a where a.user_id = u.id order by a.provider_id)
    from (
      (select true as by_id, o.* from auth."user" o where o.id = search and next is null)
      union all
      (select false, o.*
         from auth."user" o
        where o.email collate "C" >= svc_private.lower_address(search) collate "C"
          and o.email collate "C" < svc_private.lower_address(search) collate "C" || chr(1114111)
          and o.email collate "C" > coalesce(next, '')
          and o.id <> search
        order by o.email collate "C"
        limit most)) as u
   order by u.by_id desc, u.email collate "C"
   limit most
$$;

comment on function svc_private.studio_people(text, text, integer) is
  'Users with this id, or with an e-mail address that begins so, with their live sessions and ways in. '
  'Definer: svc_studio_read may not read the schema auth.';

grant execute on function svc_private.studio_people(text, text, integer) to svc_studio_read;
