/** Requests of clients that go on whatever happens, and which of them were refused. */
import { setTimeout as pause } from 'node:timers/promises'

export interface Refusal {
  at: number
  what: string
}

interface Asked {
  method?: 'GET' | 'POST' | 'PUT'
  body?: object
  token?: string
}

export type Asking = ReturnType<typeof startAsking>

export function startAsking(url: string) {
  const refusals: Refusal[] = []
  let requests = 0
  let streak = 0

  return {
    refusals,
    get requests() {
      return requests
    },
    /** Answers since the last refusal. */
    get streak() {
      return streak
    },

    /** The body of an answer that is a success (empty: {}); undefined where there was none. */
    async ask(path: string, { method, body, token }: Asked = {}) {
      requests += 1
      const answer = await fetch(`${url}${path}`, {
        method: method ?? (body ? 'POST' : 'GET'),
        headers: {
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      }).catch((error: Error) => error.cause ?? error)
      if (answer instanceof Response && answer.ok) {
        streak += 1
        return JSON.parse((await answer.text()) || '{}')
      }
      streak = 0
      const what = answer instanceof Response ? await refusalOf(answer) : String(answer)
      refusals.push({ at: performance.now(), what: `${path.split('?')[0]} ${what}` })
      // As clients do.
      await pause(100)
      return undefined
    },
  }
}

async function refusalOf(answer: Response): Promise<string> {
  const code = /"error_code":"(\w+)"/.exec(await answer.text())?.[1]
  return code === undefined ? `${answer.status}` : `${answer.status} ${code}`
}

/** As many clients live over and over again. To stop them resolves when each has come to the end of its turn. */
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

/** Seconds between the first and the last refusal after `since`. */
export function outage(refusals: Refusal[], since: number) {
  const after = refusals.filter(({ at }) => at >= since)
  const first = after.at(0)?.at ?? 0
  const last = after.at(-1)?.at ?? 0
  const kinds: Record<string, number> = {}
  for (const { what } of after) kinds[what] = (kinds[what] ?? 0) + 1
  return { refused: after.length, seconds: Math.round((last - first) / 100) / 10, kinds }
}
