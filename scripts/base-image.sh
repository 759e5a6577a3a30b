#!/usr/bin/env bash
# Builds a local stand-in for node:24-slim, so that the Dockerfile can be built and its image tested where no image registry
# is reachable: the Debian of that image, the Node.js of `npm ci`, npm, and the same user, paths and entry point.
# Needs root on Debian and reaches nothing but the Debian archive and npm's registry. Installs what it lacks.
#
# Prints the path of the storage.conf with which buildah and podman find the image (CONTAINERS_STORAGE_CONF). Does nothing
# when the image exists; --force builds it again. Exits 77 when it cannot be built here, with the reason on stderr.
set -euo pipefail
cd "$(dirname "$0")/.."

image=docker.io/library/node:24-slim
suite=bookworm
# 300 MB that later runs use again.
cache=${FLATLINE_BASE_IMAGE_CACHE:-/var/cache/flatline-base-image}
node=node_modules/node/bin/node

unavailable() {
  echo "base-image: $*" >&2
  exit 77
}
say() { echo "base-image: $*" >&2; }

[ "$(id -u)" = 0 ] || unavailable "needs root, for mmdebstrap and for chroot"
command -v apt-get >/dev/null || unavailable "needs Debian, whose packages it installs"
[ -x "$node" ] || unavailable "$node is missing; run npm ci first"

missing=()
for tool in buildah podman runc mmdebstrap; do command -v "$tool" >/dev/null || missing+=("$tool"); done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >/dev/null || unavailable "apt-get could not install ${missing[*]}"
fi

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9

# A storage of its own: the machine's containers are left alone. vfs copies each layer, and works on every file system.
export CONTAINERS_STORAGE_CONF=$cache/storage.conf
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/storage"\nrunroot = "%s/run"\n' "$cache" "$cache" >"$CONTAINERS_STORAGE_CONF"
if [ "${1:-}" = --force ] || ! buildah inspect --type image "$image" >/dev/null 2>&1; then
  context=$(mktemp -d "$cache/context-XXXXXX")
  trap 'rm -rf "$context"' EXIT

  say "unpacking Debian $suite"
  # Without device nodes: not every machine lets root make them.
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,tzdata --skip=output/dev \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    "$suite" "$context/debian.tar" >&2 || unavailable "mmdebstrap could not unpack $suite"

  mkdir -p "$context/local/bin"
  npm install --silent --no-audit --no-fund --global --prefix "$context/local" npm@11 >&2 \
    || unavailable "npm's registry gave no npm@11"
  cp "$node" "$context/local/bin/node"
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    # A proxy's own certificate authority: npm needs it inside the build, too.
    cp "$NODE_EXTRA_CA_CERTS" "$context/local/extra-ca.crt"
    extra_ca='ENV NODE_EXTRA_CA_CERTS=/usr/local/extra-ca.crt'
  fi
  cat >"$context/local/bin/docker-entrypoint.sh" <<'ENTRYPOINT'
#!/bin/sh
set -e
# Arguments that are no command are node's, as in the public image.
if [ "${1#-}" != "$1" ] || ! command -v "$1" >/dev/null || { [ -f "$1" ] && ! [ -x "$1" ]; }; then set -- node "$@"; fi
exec "$@"
ENTRYPOINT
  chmod -R u=rwX,go=rX "$context/local"
  chmod 755 "$context/local/bin/docker-entrypoint.sh"

  cat >"$context/Dockerfile" <<DOCKERFILE
FROM scratch
ADD debian.tar /
COPY local /usr/local/
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_VERSION=$("$node" -p process.versions.node)
${extra_ca:-}
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["node"]
DOCKERFILE
  say "building $image"
  buildah bud --quiet --isolation chroot --format docker --layers=false -t "$image" "$context" >&2 \
    || unavailable "buildah could not build $image"
fi
echo "$CONTAINERS_STORAGE_CONF"
