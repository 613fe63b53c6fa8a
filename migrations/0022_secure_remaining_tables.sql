-- Tables that came without row-level security: svc_private.secure_tables() has switched it on at the end of each first
-- migration, and said so to every operator. Switching it on again changes nothing.

alter table svc_private.ai_prices enable row level security;
alter table svc_private.document_conversions enable row level security;
