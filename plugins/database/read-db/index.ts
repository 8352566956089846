/**
 * The handle for reads that tolerate lag: lists, searches, exports and statistics of admins. Never for decisions about
 * a session, a token, a permission or a write. Without AUTH_DB_READ_URL it reads from the primary.
 */
import { createDbWithDialect, type Db } from '../../../db/core/database.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { createUnreadableReport } from '../db.ts'
import { createDialect } from '../driver/index.ts'
import { createPool } from '../pool/index.ts'
import { createReadDialect } from './read-dialect.ts'
import {
  createPositions,
  createReplica,
  type Positions,
  parsePosition,
  type Replica,
} from './replica.ts'
import { readServerState, type ServerState } from './server-state.ts'

// Chooses the replica for the next read, in rotation.

interface Candidate {
  replayedAt(): number | undefined
}

/** Why the primary serves a read although there are replicas. */
type FallbackReason = 'unavailable' | 'lagging' | 'own_write' | 'failed'

interface ChooserOptions<C> {
  replicas: readonly C[]
  maxLagMs: number
  onFallback: (reason: FallbackReason) => void
  now?: () => number
}

export function createChooser<C extends Candidate>(options: ChooserOptions<C>) {
  const { replicas, maxLagMs, onFallback, now = () => performance.now() } = options
  let lastWriteAt = Number.NEGATIVE_INFINITY
  let turn = 0

  return {
    /** From now on this process reads from replicas that contain everything acknowledged until now. */
    noteWrite(): void {
      lastWriteAt = now()
    },

    choose(): C | undefined {
      if (replicas.length === 0) return undefined
      const at = now()
      const fresh = replicas.filter((replica) => at - getReplayTime(replica) <= maxLagMs)
      const usable = fresh.filter((replica) => getReplayTime(replica) > lastWriteAt)
      turn += 1
      const chosen = usable[turn % usable.length]
      if (!chosen) onFallback(chooseReason(fresh.length > 0, replicas))
      return chosen
    },
  }
}

function chooseReason(isFresh: boolean, replicas: readonly Candidate[]): FallbackReason {
  if (isFresh) return 'own_write'
  return replicas.some((replica) => replica.replayedAt() !== undefined) ? 'lagging' : 'unavailable'
}

const getReplayTime = (replica: Candidate) => replica.replayedAt() ?? Number.NEGATIVE_INFINITY

declare module 'fastify' {
  interface FastifyInstance {
    readDb: Db
  }
}

type ReadDeps = Deps<'addHook' | 'config' | 'db' | 'log' | 'pool' | 'telemetry'>

/** Measurements within the maximum lag, so that a replica without lag always counts as fresh. */
const measuredPerLag = 5
const maxIntervalMs = 2_000

export default definePlugin({
  name: 'readDb',
  deps: ['addHook', 'config', 'db', 'log', 'pool', 'telemetry'],
  create(deps) {
    const { config, db } = deps
    const maxLagMs = config.AUTH_DB_READ_MAX_LAG * 1000
    const onFallback = (reason: FallbackReason) =>
      deps.telemetry.metrics.count('postern.read_replica.fallbacks', { reason })
    const positions = createPositions()
    const replicas = createReplicas(deps, positions)
    const { choose, noteWrite } = createChooser({ replicas, maxLagMs, onFallback })
    if (replicas.length > 0) {
      measureReplicas(deps, positions, replicas)
      addGauges(deps, replicas, maxLagMs)
      // Before the response: later reads of this client must see the write.
      deps.addHook('onSend', (request, _reply, _payload, done) => {
        if (isAdminWrite(request)) noteWrite()
        done()
      })
    }
    const targets = {
      primary: db,
      choose: () => choose()?.db,
      onFailure: () => onFallback('failed'),
    }
    return createDbWithDialect(createReadDialect(targets), config.AUTH_DB_NAMESPACE)
  },
})

function createReplicas(
  { config, log, pool, telemetry }: ReadDeps,
  positions: Positions,
): Replica[] {
  const options = {
    preparesStatements: config.AUTH_DB_PREPARED_STATEMENTS,
    maxDurationMs: config.AUTH_API_MAX_REQUEST_DURATION * 1000,
    onStatement: telemetry.onStatement,
    onUnreadable: createUnreadableReport({ log, pool }),
  }
  return config.AUTH_DB_READ_URL.map((connectionString, index) =>
    createReplica({
      connectionString,
      positions,
      log,
      name: String(index + 1),
      createDialect: (pool) => createDialect(pool, options),
    }),
  )
}

/** In the background, from the start until the server is closed. */
function measureReplicas(deps: ReadDeps, positions: Positions, replicas: readonly Replica[]): void {
  const { config, log } = deps
  // A separate connection, because a wait for one of the pool would count as lag.
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 1, log })
  let primary: ServerState | undefined
  let running: Promise<void> | undefined

  async function recordPosition(): Promise<void> {
    const at = performance.now()
    const state = await readServerState(pool)
    if (state.isStandby) return
    primary = state
    positions.record({ at, position: parsePosition(state.position) })
  }

  async function measure(): Promise<void> {
    // While the primary does not respond, the measured age of all replicas grows.
    await recordPosition().catch(() => {})
    if (!primary) return
    for (const replica of replicas) replica.measure(primary)
  }

  function start(): void {
    running ??= measure().finally(() => {
      running = undefined
    })
  }

  const intervalMs = (config.AUTH_DB_READ_MAX_LAG * 1000) / measuredPerLag
  const timer = setInterval(start, Math.min(maxIntervalMs, intervalMs)).unref()
  deps.addHook('onReady', async () => start())
  deps.addHook('onClose', async () => {
    clearInterval(timer)
    await running
    await Promise.all([pool.end(), ...replicas.map((replica) => replica.close())])
  })
}

function addGauges(
  { telemetry: { metrics } }: ReadDeps,
  replicas: readonly Replica[],
  maxLagMs: number,
): void {
  const computeLag = (replica: Replica) => performance.now() - (replica.replayedAt() ?? -Infinity)
  metrics.gauge('postern.read_replica.lag', () =>
    replicas
      .filter((replica) => replica.replayedAt() !== undefined)
      .map((replica) => ({ value: computeLag(replica) / 1000, labels: { replica: replica.name } })),
  )
  metrics.gauge('postern.read_replica.usable', () =>
    replicas.map((replica) => ({
      value: computeLag(replica) <= maxLagMs ? 1 : 0,
      labels: { replica: replica.name },
    })),
  )
}

interface Requested {
  method: string
  routeOptions: { url?: string | undefined }
}

function isAdminWrite({ method, routeOptions: { url } }: Requested): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method) && /\/(admin\/|invite$)/.test(url ?? '')
}
