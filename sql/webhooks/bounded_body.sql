-- The body of a change, if a worker can take it. Part of svc_private.webhook_statement() and svc_private.add_change_job().
--
-- A longer body refuses the change. A worker loses its connection by a row of 256 MB, and would claim it again and again; one that it
-- does get keeps it from everything else for seconds. What a request can write is far shorter.

create or replace function svc_private.bounded_body(webhook text, body json)
returns json
language plpgsql
immutable
set search_path = ''
as $$
begin
  if octet_length(body::text) > 16777216 then
    raise exception 'the webhook % tells at most 16 MiB of a row', webhook
      using errcode = '54000', hint = 'Leave long columns out of its columns, and let the receiver read them by the key.';
  end if;
  return body;
end
$$;

revoke execute on function svc_private.bounded_body(text, json) from svc_system;

comment on function svc_private.bounded_body(text, json) is 'The body of a change; refuses one of more than 16 MiB.';
