-- The administrator who acted as the user of an entry (sql/history/note_change.sql). The session that knew it is deleted when the
-- visit ends, and the caller of a request may choose the request's id.

alter table svc_private.history_entries add column impersonated_by text;

comment on column svc_private.history_entries.impersonated_by is
  'The administrator who acted as the user; null: nobody did. Shown in `via`.';
