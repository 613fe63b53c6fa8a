-- An insert by ctx.db names every column, with DEFAULT for those that it was not given, and PostgreSQL wants the privilege
-- for these too. What may be written the policies say.
grant insert on public.tasks, public.posts to svc_authenticated;
grant insert on public.guestbook to svc_anonymous, svc_authenticated;
