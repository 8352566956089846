/** The server in which replicas count together. */
import { type Finding, fail, pass, reasonOf, type Surroundings, warn } from './finding.ts'

const timeoutMs = 3_000

export async function redis({ config }: Surroundings): Promise<Finding[]> {
  const { AUTH_REDIS_URL: url, AUTH_WORKERS: workers } = config
  if (!url) {
    if (workers === 1) return []
    return [
      warn(
        `${workers} workers count rate limits each for itself: set AUTH_REDIS_URL to share them.`,
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
    return [pass('Redis answers.')]
  } catch (error) {
    const { host } = new URL(url)
    return [
      fail(
        `Redis at ${host} does not answer (${reasonOf(lost ?? error)}): each replica counts alone until it does. Look at AUTH_REDIS_URL.`,
      ),
    ]
  } finally {
    client.disconnect()
  }
}
