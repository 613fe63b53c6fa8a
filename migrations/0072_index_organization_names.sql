-- Studio finds organizations by the beginning of their name, and shows them in its order (sql/studio/studio_organizations.sql).
create index organizations_name on svc.organizations (lower(name collate "C"), id);
