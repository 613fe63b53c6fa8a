-- A conversion has a row while it is under way, without a result yet: of several that come with the same bytes at the same
-- time one converts, and pays where that costs, and the others wait.

alter table svc_private.document_conversions
  alter column result drop not null,
  add column claim uuid unique,
  add column claimed_until timestamptz,
  add check (result is not null or claim is not null and claimed_until is not null);

comment on column svc_private.document_conversions.claim is 'Of who converts it now; null once there is a result.';
comment on column svc_private.document_conversions.claimed_until is 'When somebody else may take it on, unless the claim is renewed.';
