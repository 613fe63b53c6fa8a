#!/bin/sh
# Writes deploy/env, which compose.yaml reads: a fresh secret for sessions and a fresh password for each login. Refuses to
# touch one that is there. docs/how-to/deploy.md.
#   sh deploy/make-env.sh https://app.example.com
set -eu
origin=${1:?"Say where the application is reached: sh deploy/make-env.sh https://app.example.com"}
file=$(dirname "$0")/env
if [ -e "$file" ]; then
  echo "$file is there already. To rotate what it holds: docs/how-to/rotate-secrets.md" >&2
  exit 1
fi
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
umask 077
admin=$(random) request=$(random) auth=$(random) system=$(random) replicator=$(random)
read=$(random) act=$(random)
url() { echo "postgres://$1:$2@postgres:5432/svc"; }
cat >"$file" <<END
# Made by deploy/make-env.sh. Keep it out of version control and of images.
AUTHLIB_URL=$origin
AUTHLIB_SECRET=$(random)

# What PostgreSQL is made with, once (deploy/compose/logins.sh).
POSTGRES_PASSWORD=$admin
REQUEST_PASSWORD=$request
AUTH_PASSWORD=$auth
SYSTEM_PASSWORD=$system
REPLICATOR_PASSWORD=$replicator
STUDIO_READ_PASSWORD=$read
STUDIO_ACT_PASSWORD=$act

# The same, as svc's processes want it. Those of Studio are for svc studio alone, the last one for migrations, backups and
# restores.
DATABASE_URL=$(url svc_request "$request")
DATABASE_AUTH_URL=$(url svc_auth "$auth")
DATABASE_SYSTEM_URL=$(url svc_system "$system")
DATABASE_REPLICATION_URL=$(url svc_replicator "$replicator")
DATABASE_STUDIO_URL=$(url svc_studio_read "$read")
DATABASE_STUDIO_ACT_URL=$(url svc_studio_act "$act")
DATABASE_ADMIN_URL=$(url postgres "$admin")
END
echo "Wrote $file."
