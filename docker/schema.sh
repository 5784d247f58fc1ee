#!/bin/sh
# Makes Temporal's two databases and brings their schema up to date. Where there is nothing to do, nothing is done.
# The SQL_* variables say where the server is.
set -eu

prepare() {
  temporal-sql-tool --database "$1" create-database
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

prepare temporal temporal
prepare temporal_visibility visibility
