-- Completes a new service account before the policies check it, and makes its user: foreign keys, files, runs and limits of a
-- service account are those of any user. Its address cannot get mail: RFC 2606 reserves .invalid.

create or replace function svc_private.prepare_service_account()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  new.id := 'service_' || pg_catalog.gen_random_uuid();
  new.name := btrim(new.name);
  new.created_by := coalesce(svc.current_user_id(), new.created_by);
  insert into auth."user" (id, name, email) values (new.id, new.name, new.id || '@service.invalid');
  return new;
end
$$;

comment on function svc_private.prepare_service_account() is
  'Trigger of svc.service_accounts: completes a new row, and makes its user. '
  'Definer: callers do not write users. If the policies refuse the row, nothing of it stays.';

create or replace trigger prepare_service_account
  before insert on svc.service_accounts
  for each row execute function svc_private.prepare_service_account();
