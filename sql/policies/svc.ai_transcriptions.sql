-- Transcriptions: users read their own. svc.start_transcription() creates them, and the worker completes them.

alter table svc.ai_transcriptions enable row level security;

create policy select_owner on svc.ai_transcriptions
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select on svc.ai_transcriptions to svc_authenticated;
grant select, insert, update, delete on svc.ai_transcriptions to svc_system;

comment on policy select_owner on svc.ai_transcriptions is 'Users see their own transcriptions.';
