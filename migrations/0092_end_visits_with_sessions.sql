-- A visit ends with the administrator's session in which it began (sql/auth/bind_visit.sql), also when that session is deleted by SQL.
-- The library does not know the column.

alter table auth.session add column begun_in text references auth.session (id) on delete cascade;

-- For the foreign key: few sessions are visits.
create index session_begun_in on auth.session (begun_in) where begun_in is not null;

comment on column auth.session.begun_in is
  'The session of the administrator who began this visit; null: it is none, or an earlier version began it.';
