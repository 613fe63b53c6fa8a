-- JWTs end with their session, and with the user's row as it was when they were issued. The triggers that tell every
-- process so are in sql/auth/, as they are now. auth.find_session() gives the row's version too: what a function returns
-- cannot be changed in place, so the old one goes here, and sql/auth/find_session.sql makes the new one.

drop function if exists auth.find_session(text);

comment on column auth."user".updated_at is
  'When the row last changed, later with every change: its milliseconds are the version that a JWT names.';
