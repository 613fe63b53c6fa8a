-- svc_private.change_row() for somebody without an account. It runs as svc_reader_anonymous: under the policies and grants of
-- svc_anonymous. Only svc_private.act_change_rows() calls it.

create or replace function svc_private.change_row_as_anonymous(change jsonb)
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

call svc_private.run_as_reader('svc_private.change_row_as_anonymous(jsonb)', 'svc_reader_anonymous');
revoke execute on function svc_private.change_row_as_anonymous(jsonb) from svc_anonymous;

comment on function svc_private.change_row_as_anonymous(jsonb) is
  'Makes one change of an operator as svc_anonymous. '
  'Definer: a reader owns it, so that the policies of svc_anonymous decide.';
