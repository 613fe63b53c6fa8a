#!/bin/sh
# Run once by the image of PostgreSQL, when it makes the database: the logins of svc's processes with the passwords of
# deploy/env. What each may do is said in sql/roles.sql, which `svc migrate` applies.
set -eu
psql --set=ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set=request="$REQUEST_PASSWORD" --set=auth="$AUTH_PASSWORD" \
  --set=system="$SYSTEM_PASSWORD" --set=replicator="$REPLICATOR_PASSWORD" \
  --set=studio_read="$STUDIO_READ_PASSWORD" --set=studio_act="$STUDIO_ACT_PASSWORD" <<'SQL'
create role svc_request login noinherit password :'request';
create role svc_auth login password :'auth';
create role svc_system login bypassrls password :'system';
create role svc_replicator login replication password :'replicator';
create role svc_studio_read login noinherit password :'studio_read';
create role svc_studio_act login password :'studio_act';
SQL
