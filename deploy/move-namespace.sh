#!/usr/bin/env bash
# Moves the tables of one AUTH_DB_NAMESPACE to another Postgres server while its servers serve requests, by logical
# replication. Their connections must go through a PgBouncer in transaction mode, which holds requests during the switch.
# docs/scaling.md#moving-a-namespace lists the prerequisites.
#
#   FROM            connection string of a superuser on the server that has the tables (wal_level = logical)
#   TO              the same for the other server
#   POOLER          the console of PgBouncer: postgres://admin@pooler:6432/pgbouncer
#   REPOINT         a command that changes the server of DATABASE in PgBouncer's configuration
#   SWITCH_TIMEOUT  seconds (4) for requests to end, and again for the copy to catch up. Both together must be shorter
#                   than query_wait_timeout of PgBouncer, so that no request ends with an error.
#
#   move-namespace.sh NAMESPACE DATABASE     DATABASE is its name in pgbouncer.ini
set -euo pipefail

namespace=$1 database=$2
schemas="$namespace ${namespace}_jobs"
switch_timeout=${SWITCH_TIMEOUT:-4}
copied=no

on() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
console() { psql -X -q -d "$POOLER" -c "$1 \"$database\""; }
within() { # SECONDS URL CONDITION
  local end=$((SECONDS + $1))
  until [ "$(on -d "$2" -c "select $3")" = t ]; do
    [ $SECONDS -lt $end ] || { echo "not within $1 s: $3" >&2; return 1; }
    sleep 0.1
  done
}

# Undoes everything until the switch is complete.
undo() {
  for schema in $schemas; do
    on -d "$FROM" -c "alter schema \"moved_$schema\" rename to \"$schema\"" 2> /dev/null || true
  done
  console resume || true
  on -d "$TO" -c "drop subscription if exists \"$namespace\"" || true
  on -d "$FROM" -c "drop publication if exists \"$namespace\"" || true
  [ $copied = no ] || for schema in $schemas; do on -d "$TO" -c "drop schema \"$schema\" cascade"; done
}
trap undo EXIT

# 1. The same schema, and a copy that follows.
on -d "$FROM" -c "select format('create extension if not exists %I schema %I;', extname, extnamespace::regnamespace)
  from pg_extension where extname = 'pg_trgm'" | on -d "$TO"
pg_dump -d "$FROM" --schema-only --schema="$namespace" --schema="${namespace}_jobs" | on --single-transaction -d "$TO" > /dev/null
copied=yes
on -d "$FROM" -c "create publication \"$namespace\" for tables in schema \"$namespace\", \"${namespace}_jobs\""
on -d "$TO" -c "create subscription \"$namespace\" connection '$FROM' publication \"$namespace\""
within 86400 "$TO" "not exists (select from pg_subscription_rel where srsubstate <> 'r')"

# 2. Requests wait until the last changes have arrived.
timeout "$switch_timeout" psql -X -q -d "$POOLER" -c "pause \"$database\""
position=$(on -d "$FROM" -c 'select pg_current_wal_lsn()')
within "$switch_timeout" "$FROM" "confirmed_flush_lsn >= '$position' from pg_replication_slots where slot_name = '$namespace'"
# Logical replication leaves these out: sequences, and the counters of failed attempts, which are an unlogged table.
on -d "$FROM" -c "select format('select setval(%L, %s);', format('%I.%I', schemaname, sequencename), last_value)
  from pg_sequences where schemaname in ('$namespace', '${namespace}_jobs') and last_value is not null" | on -d "$TO" > /dev/null
pg_dump -d "$FROM" --data-only --table="\"$namespace\".postern_throttles" | on -d "$TO" > /dev/null

# 3. A connection that still reaches the old server finds no tables.
for schema in $schemas; do on -d "$FROM" -c "alter schema \"$schema\" rename to \"moved_$schema\""; done
eval "$REPOINT"
psql -X -q -d "$POOLER" -c reload
console resume
trap - EXIT

on -d "$TO" -c "drop subscription \"$namespace\"" -c analyze
on -d "$FROM" -c "drop publication \"$namespace\""
