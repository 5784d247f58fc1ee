# The image of a Longhaul worker, with the command line. Debian, not Alpine: @temporalio/core-bridge is built for glibc only.
FROM node:24.21.0-trixie-slim AS base

FROM base AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# No package needs its install script, and some would download.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack

# The tarball as it is published, with the dependencies that the lock file names.
WORKDIR /opt/longhaul
RUN tar -xzf /src/longhaul-*.tgz --strip-components=1 \
  && cp /src/package-lock.json /src/.npmrc . \
  && npm ci --omit=dev --ignore-scripts \
  # Temporal's native library comes for five platforms of 27 MB each.
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM base
# git: for the tasks. tini: ends with the worker, passes signals on to it, and reaps what its commands leave behind.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/*

# Whom the workspaces belong to on the host: what a task writes there then belongs to the same person.
ARG UID=1000
ARG GID=1000
RUN groupmod --non-unique --gid "$GID" node \
  && usermod --non-unique --uid "$UID" --gid "$GID" node \
  && install --directory --owner=node --group=node /var/lib/longhaul /workspaces

COPY --from=build /opt/longhaul /opt/longhaul
RUN ln -s /opt/longhaul/bin/longhaul.js /usr/local/bin/longhaul

ENV LONGHAUL_HOME=/var/lib/longhaul
USER $UID:$GID
WORKDIR /workspaces
ENTRYPOINT ["tini", "--"]
CMD ["longhaul", "worker", "--role", "all"]
