FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# What a server runs on is ready when it is unpacked: no package gets to run a script.
RUN npm ci --omit=dev --ignore-scripts --no-fund --no-audit

FROM node:24-slim
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/.compile-cache
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY . .
RUN mkdir .compile-cache && chown node .compile-cache
USER node
# Types are stripped once, here: the container then starts faster, in less memory, from a read-only file system. By the
# user and with the flags that the server has: what another user or other flags compiled is passed over.
RUN node="node --max-semi-space-size=4 --heap-growing-percent=50" \
    && for file in app server plugins/rate-limits/redis-counter mail/plain-text; do \
         $node --input-type=module -e "await import('./$file.ts')"; done \
    # Without a command it says that there is none; what counts is that its types are stripped.
    && { $node cli.ts > /dev/null 2>&1 || true; }
EXPOSE 8081 9100
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8081}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# A small nursery, and a heap that grows by halves instead of doubling: a fifth less memory under load.
CMD ["node", "--max-semi-space-size=4", "--heap-growing-percent=50", "cli.ts", "serve"]
