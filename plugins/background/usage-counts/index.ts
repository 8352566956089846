/**
 * Counts sign-ins, rejected requests and hook calls for the console: in memory, flushed every few seconds to a table
 * that replicas share. A killed process loses the last seconds.
 */
import { addUsageCounts, type UsageCount } from '../../../db/statistics/usage-counts.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { toUsage } from './usage.ts'

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
