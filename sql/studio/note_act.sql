-- Writes the line of an operator's act. The functions act_… call it in the transaction of the act: a rollback removes both.
-- `svc db backup` and `svc db verify --deep` call it when they have succeeded (src/backup/note.ts).

create or replace function svc_private.note_act(act text, arguments jsonb, outcome text)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into svc.operator_acts (via, act, arguments, outcome)
    values (coalesce(nullif(current_setting('application_name'), ''), 'unknown'),
            note_act.act, note_act.arguments, note_act.outcome)
$$;

comment on function svc_private.note_act(text, jsonb, text) is
  'Writes the line of an operator''s act, in the transaction of the act.';

revoke execute on function svc_private.note_act(text, jsonb, text) from svc_system;
