#!/bin/sh
# Makes the namespace of the tasks, unless it is there. Closed workflows are kept for 30 days, as by the local service.
set -eu

until temporal operator cluster health; do sleep 1; done
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 30d
