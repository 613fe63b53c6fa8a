-- An operator's confirmation that an e-mail address is its user's own, with its line in svc.operator_acts.

create or replace function svc_private.act_verify_email(of_user text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update auth."user" u set email_verified = true where u.id = of_user and not u.email_verified;
  if not found then
    return false;
  end if;
  perform svc_private.note_act('act_verify_email', jsonb_build_object('user', of_user), 'verified');
  return true;
end
$$;

comment on function svc_private.act_verify_email(text) is
  'Marks a user''s e-mail address as verified and writes the act; false, and no line, when it is already, or there is '
  'no such user. Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_verify_email(text) to svc_studio_act;
