#!/usr/bin/env bash
# Builds the image as TAG: with Docker; or with buildah on the stand-in for its base image, where CONTAINERS_STORAGE_CONF names
# the storage that has it (scripts/base-image.sh). Exits 77 where there is neither.
# Usage: scripts/build-image.sh TAG
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${CONTAINERS_STORAGE_CONF:-}" ] && command -v buildah >/dev/null; then
  # The Dockerfile names the base by its digest, which the stand-in has not.
  base=$(grep -oE 'node:[^ ]+@sha256:[0-9a-f]{64}' Dockerfile | sort -u)
  exec buildah bud --isolation chroot --pull-never --format docker \
    --build-context "$base=container-image://docker.io/library/${base%@*}" -t "$1" .
elif command -v docker >/dev/null; then
  exec docker build -t "$1" .
else
  echo "build-image: there is neither Docker nor a storage with the base image here" >&2
  exit 77
fi
