-- Gives a user's row a new version whenever it changes: updated_at becomes later than before by at least a millisecond,
-- whatever the writer sets and whatever the clock shows. JWTs contain the version that they were issued for, so that a
-- role that was taken away becomes invalid in all of them.
--
-- A write that changes nothing else keeps updated_at, and so does one that only sets updated_at: neither requires a new
-- JWT. The rows are compared byte by byte (*<>), which works for columns of any type.

create or replace function auth.advance_user_version()
returns trigger
language plpgsql
volatile
set search_path = ''
as $$
begin
  new.updated_at := old.updated_at;
  if new *<> old then
    new.updated_at := greatest(
      date_trunc('milliseconds', clock_timestamp()),
      date_trunc('milliseconds', old.updated_at) + interval '1 millisecond'
    );
  end if;
  return new;
end
$$;

comment on function auth.advance_user_version() is
  'Trigger of auth."user": updated_at grows with every change of the row, and only then.';

create or replace trigger advance_version
  before update on auth."user"
  for each row execute function auth.advance_user_version();

comment on trigger advance_version on auth."user" is
  'A changed row is a new version; JWTs of earlier versions become invalid.';
