-- An id with a tab would be read as another user's id with the scopes of an API key: svc.current_user_id() ends at the tab
-- (sql/session/current_user_id.sql). The service refuses such ids; psql and imports wrote them.
alter table auth."user" add constraint user_id_check check (position(E'\t' in id) = 0);

-- Names of organizations are read by strangers, in invitations. Refused are characters that control text or reverse its direction,
-- and those that nobody sees: by them two names look the same. The joiners U+200C and U+200D stay between other letters than Latin
-- ones: Persian and emoji are spelled with them.
alter table svc.organizations add constraint organizations_name_shown check (
  name !~ '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\uffff]'
  and name ~ '[^\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]'
  and name !~ '(^|[\u0020-\u007e])[\u200c\u200d\ufe00-\ufe0f]|[\u200c\u200d](\Z|[\u0020-\u007e])'
);

-- Whose endpoint it was as the row changed: an endpoint that is given to another user gets nothing of the user before
-- (sql/webhooks/is_owned_by.sql). Null for receivers in the environment, and for what was noted before.
alter table svc.webhook_deliveries add column owner text;
comment on column svc.webhook_deliveries.owner is 'Whose the endpoint was as the row changed; null in the environment.';
