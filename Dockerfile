# The same base twice, by digest: .github/dependabot.yml keeps both fresh. What is built runs on every platform.
FROM --platform=$BUILDPLATFORM node:24-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts in here: the one that is allowed brings a Node of its own, and this image has one.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.js scripts/bundle.js scripts/site.js scripts/
COPY docs/*.md docs/
COPY src src
RUN node scripts/build.js

FROM node:24-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
LABEL org.opencontainers.image.title="flatline" \
      org.opencontainers.image.description="Alerts when a takedown platform's liveness checker breaks" \
      org.opencontainers.image.licenses="MIT"
# The libraries are inside.
COPY --from=build /app/dist /app/dist
COPY package.json LICENSE /app/
COPY bin /app/bin
RUN ln -s /app/bin/flatline.js /usr/local/bin/flatline \
    && mkdir -p /data /etc/flatline && chown node:node /data
# One thread does nearly all: more arenas only hold more memory.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    FLATLINE_LISTEN=0.0.0.0:9640
# storage.path is relative to the working directory.
WORKDIR /data
VOLUME /data
USER node
EXPOSE 9640
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["flatline", "healthcheck"]
ENTRYPOINT ["flatline"]
CMD ["run"]
