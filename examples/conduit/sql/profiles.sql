-- Every user has a profile, which others may read. auth."user" itself is not readable by requests.

-- Definer: runs for svc_auth, which has no rights in public. It writes only the profile of the changed user.
create or replace function public.keep_profile() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into public.profiles (user_id, username, bio, image) values (new.id, new.name, new.bio, new.image)
  on conflict (user_id) do update set username = excluded.username, bio = excluded.bio, image = excluded.image;
  return null;
end $$;

create or replace trigger keep_profile after insert or update of name, bio, image on auth."user"
for each row execute function public.keep_profile();
