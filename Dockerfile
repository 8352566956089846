FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Production packages need no install scripts, so none runs.
RUN npm ci --omit=dev --ignore-scripts --no-fund --no-audit

# The bundler of the console is a development dependency.
FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-fund --no-audit
COPY . .
RUN node deploy/build-console.ts

FROM node:24-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY . .
COPY --from=console /app/console/dist ./console/dist
# Types are removed once, here. Removing them at every start takes Node 20 MiB of memory, and its compile cache takes 12 MiB
# while the server runs.
RUN node deploy/strip-types.ts .
# malloc returns large free blocks to the system at once.
ENV NODE_ENV=production \
    NODE_OPTIONS=--import=/app/deploy/without-types.mjs \
    NODE_DISABLE_COMPILE_CACHE=1 \
    MALLOC_MMAP_THRESHOLD_=32768 \
    MALLOC_TRIM_THRESHOLD_=131072
USER node
EXPOSE 8081 9100
# A first start, or one that migrates a large database, takes minutes.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5m --retries=3 \
  CMD ["node", "-e", "const { PORT, AUTH_API_PORT, GOTRUE_API_PORT } = process.env; fetch(`http://127.0.0.1:${PORT || AUTH_API_PORT || GOTRUE_API_PORT || 8081}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# V8's young generation is limited to 4 MiB: without it the server needs up to twice the memory (docs/benchmarks.md).
CMD ["node", "--max-semi-space-size=16", "cli.ts", "serve"]
