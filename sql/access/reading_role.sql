-- The role whose policies decide what a function of search may read: that of the request. A definer function of the
-- application would see every row with its own rights, so it gets a request's role too, depending on whether there is a user.
-- The system and an administrator read with their own rights (sql/README.md, "Readers").

create or replace function svc_hidden.reading_role()
returns text
language sql
stable
as $$
  select case current_user
    when 'svc_owner' then case when svc.current_user_id() is null then 'svc_anonymous' else 'svc_authenticated' end
    else current_user
  end
$$;

comment on function svc_hidden.reading_role() is
  'The role whose policies decide what a search reads: svc_anonymous or svc_authenticated for requests. '
  'lint:allow function_without_search_path: SET would prevent inlining; it runs under that of its caller.';

grant execute on function svc_hidden.reading_role() to svc_anonymous, svc_authenticated;
