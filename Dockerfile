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
# Types are stripped once, here: the user of the server can store nothing.
RUN node deploy/strip-types.mjs
ENV NODE_ENV=production
USER node
EXPOSE 8081 9100
# A first start, or one that migrates a large database, takes minutes.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5m --retries=3 \
  CMD ["node", "-e", "const { PORT, AUTH_API_PORT, GOTRUE_API_PORT } = process.env; fetch(`http://127.0.0.1:${PORT || AUTH_API_PORT || GOTRUE_API_PORT || 8081}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The command of `npm start`. docs/decisions/2026-11-30-two-v8-flags.md has the reasons of the flags.
CMD ["node", "--import=./deploy/without-types.mjs", "--max-semi-space-size=16", "--heap-growing-percent=50", "cli.ts", "serve"]
