-- Every user has a profile, which others may read. auth."user" itself is not readable by requests.

-- Definer: runs for svc_auth, which has no rights in public. It writes only the profile of the new user.
create or replace function public.add_profile() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.profiles (user_id, username) values (new.id, new.name);
  return null;
end $$;

create or replace trigger add_profile after insert on auth."user" for each row execute function public.add_profile();

grant select on public.follows to svc_anonymous;
comment on table public.follows is 'lint:allow grant_without_policy: profiles ask for everyone, and find no row for callers without an account.';
