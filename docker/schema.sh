#!/bin/sh
# Makes Temporal's two databases and brings their schema up to date. Where there is nothing to do, nothing is done.
set -eu

prepare() {
  database=$1
  versions=/etc/temporal/schema/postgresql/v12/$2/versioned
  set -- temporal-sql-tool --plugin postgres12 --endpoint "$POSTGRES_SEEDS" --user "$POSTGRES_USER" --database "$database"
  "$@" create-database
  "$@" setup-schema --version 0.0
  "$@" update-schema --schema-dir "$versions"
}

prepare temporal temporal
prepare temporal_visibility visibility
