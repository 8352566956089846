/** Checks Redis, which shares the rate limit counters. */
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'

const timeoutMs = 3_000

export async function checkRedis({ config }: DoctorContext): Promise<DoctorFinding[]> {
  const { AUTH_REDIS_URL: url, AUTH_WORKERS: workers } = config
  if (!url) {
    if (workers === 1) return []
    return [
      warn(
        `Each of the ${workers} workers counts rate limits separately: set AUTH_REDIS_URL to share the counters.`,
      ),
    ]
  }
  const { Redis } = await import('ioredis')
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let lost: unknown
  client.on('error', (error) => {
    lost = error
  })
  try {
    await client.connect()
    await client.ping()
    return [pass('Redis responds.')]
  } catch (error) {
    const { host } = new URL(url)
    return [
      fail(
        `Redis at ${host} does not respond (${describeError(lost ?? error)}): each replica counts separately until it does. Check AUTH_REDIS_URL.`,
      ),
    ]
  } finally {
    client.disconnect()
  }
}
