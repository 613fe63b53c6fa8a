-- svc_private.change_row() for the transaction's user. It runs as svc_reader_authenticated: under the policies and grants of
-- svc_authenticated. Only svc_private.act_change_rows() calls it.

create or replace function svc_private.change_row_as_authenticated(change jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc_private.change_row(change);
end
$$;

call svc_private.run_as_reader('svc_private.change_row_as_authenticated(jsonb)', 'svc_reader_authenticated');
revoke execute on function svc_private.change_row_as_authenticated(jsonb) from svc_authenticated;

comment on function svc_private.change_row_as_authenticated(jsonb) is
  'Makes one change of an operator as svc_authenticated. '
  'Definer: a reader owns it, so that the policies of svc_authenticated decide.';
