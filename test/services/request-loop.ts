/** Clients that keep sending requests, and the rejected ones. */
import { setTimeout as pause } from 'node:timers/promises'

interface Rejection {
  at: number
  what: string
}

interface Requested {
  method?: 'GET' | 'POST' | 'PUT'
  body?: object
  token?: string
}

export function startRequesting(url: string) {
  const rejections: Rejection[] = []
  let requests = 0
  let streak = 0

  return {
    rejections,
    get requests() {
      return requests
    },
    /** Responses since the last rejection. */
    get streak() {
      return streak
    },

    /** The body of a successful response (empty: {}); undefined without one. */
    async send(path: string, { method, body, token }: Requested = {}) {
      requests += 1
      const response = await fetch(`${url}${path}`, {
        method: method ?? (body ? 'POST' : 'GET'),
        headers: {
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      }).catch((error: Error) => error.cause ?? error)
      if (response instanceof Response && response.ok) {
        streak += 1
        return JSON.parse((await response.text()) || '{}')
      }
      streak = 0
      const what =
        response instanceof Response ? await describeRejection(response) : String(response)
      rejections.push({ at: performance.now(), what: `${path.split('?')[0]} ${what}` })
      // As clients do.
      await pause(100)
      return undefined
    },
  }
}

async function describeRejection(response: Response): Promise<string> {
  const code = /"error_code":"(\w+)"/.exec(await response.text())?.[1]
  return code === undefined ? `${response.status}` : `${response.status} ${code}`
}

/** So many clients repeat their requests. `stop` resolves when each has ended its current round. */
export function startMany(
  count: number,
  live: (isOver: () => boolean, client: number) => Promise<void>,
) {
  let stopping = false
  const clients = Array.from({ length: count }, async (_, client) => {
    while (!stopping) await live(() => stopping, client)
  })
  return async (): Promise<void> => {
    stopping = true
    await Promise.all(clients)
  }
}

/** Seconds between the first and the last rejection after `since`. */
export function outage(rejections: Rejection[], since: number) {
  const after = rejections.filter(({ at }) => at >= since)
  const first = after.at(0)?.at ?? 0
  const last = after.at(-1)?.at ?? 0
  const kinds: Record<string, number> = {}
  for (const { what } of after) kinds[what] = (kinds[what] ?? 0) + 1
  return { rejected: after.length, seconds: Math.round((last - first) / 100) / 10, kinds }
}
