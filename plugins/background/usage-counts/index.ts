/**
 * Counts sign-ins, rejected requests and hook calls for the console: in memory, flushed every few seconds to a table
 * that replicas share. A killed process loses the last seconds.
 */
import { addUsageCounts, type UsageCount } from '../../../db/statistics/statistics.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import type { CounterName } from '../../observability/telemetry/instruments.ts'

type Labels = Readonly<Record<string, string>>

type Usage = Pick<UsageCount, 'kind' | 'name' | 'outcome'>

/** A refresh is not a sign-in. */
const notSignIns: readonly string[] = ['refresh_token', '']

const readers: Partial<Record<CounterName, (labels: Labels) => Usage | undefined>> = {
  'postern.sign_ins': ({ method = '', outcome }) => {
    if (outcome === 'accepted') return signIn(method, 'success')
    // Rejected ones are counted with their reason.
    return outcome === 'failed' ? signIn(method, 'error') : undefined
  },
  'postern.sign_in_failures': ({ method = '', reason = '' }) =>
    signIn(method, reason.startsWith('over_') ? 'limited' : 'failed'),
  'postern.rate_limit.exceeded': ({ limiter = '' }) => rejected(limiter),
  'postern.send_quota.exceeded': ({ channel = '' }) => rejected(`send_quota_${channel}`),
  'postern.hook_calls': ({ hook = '', outcome = '' }) => ({
    kind: 'hook',
    name: hook,
    outcome: outcome === 'ok' || outcome === 'rejected' ? 'success' : 'failed',
  }),
}

function signIn(method: string, outcome: string): Usage | undefined {
  return notSignIns.includes(method) ? undefined : { kind: 'sign_in', name: method, outcome }
}

const rejected = (name: string): Usage => ({ kind: 'limit', name, outcome: 'rejected' })

/** The telemetry counters that the console shows without telemetry. */
function toUsage(counter: CounterName, labels: Labels): Usage | undefined {
  return readers[counter]?.(labels)
}

declare module 'fastify' {
  interface FastifyInstance {
    usageCounts: ReturnType<typeof createUsageCounts>
  }
}

const flushMs = 10_000
const hourMs = 3_600_000

/** Labels never contain client input, so there are few rows; more would be a bug. */
const maxRows = 1_000

type UsageDeps = Deps<'addHook' | 'config' | 'db' | 'log' | 'telemetry'>

function createUsageCounts(deps: UsageDeps) {
  const { config, db, log, telemetry } = deps
  let counts = new Map<string, UsageCount>()
  if (!config.AUTH_CONSOLE_ENABLED) return { flush: async () => {} }

  telemetry.metrics.onCount((counter, labels) => {
    const usage = toUsage(counter, labels)
    if (usage) add({ ...usage, hour: new Date(Math.floor(Date.now() / hourMs) * hourMs), count: 1 })
  })

  function add(usage: UsageCount): void {
    const key = `${usage.hour.getTime()} ${usage.kind} ${usage.name} ${usage.outcome}`
    const known = counts.get(key)
    if (known) known.count += usage.count
    else if (counts.size < maxRows) counts.set(key, usage)
  }

  async function flush(): Promise<void> {
    if (counts.size === 0) return
    const rows = [...counts.values()]
    counts = new Map()
    try {
      await addUsageCounts(db, rows)
    } catch (err) {
      for (const row of rows) add(row)
      log.warn({ err }, 'usage counts could not be stored, retrying later')
    }
  }

  const timer = setInterval(() => void flush(), flushMs).unref()
  deps.addHook('onClose', async () => {
    clearInterval(timer)
    await flush()
  })
  return { flush }
}

export default definePlugin({
  name: 'usageCounts',
  deps: ['addHook', 'config', 'db', 'log', 'telemetry'],
  create: createUsageCounts,
})
