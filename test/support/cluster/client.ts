/** Sends requests to the servers of a cluster in turn, and records those that got no response or 5xx. */
import { setTimeout as pause } from 'node:timers/promises'

interface Failure {
  /** When the request was sent, and when it failed (`performance.now()`). */
  since: number
  at: number
  what: string
}

interface Requested {
  method?: 'GET' | 'POST' | 'PUT'
  body?: object
  token?: string
}

export interface Reply {
  /** 0 without a response: it may have taken effect or not. */
  status: number
  text: string
}

/** Once `signal` aborts, no request gets a response. */
export function createClient(urls: readonly string[], signal: AbortSignal) {
  const failures: Failure[] = []
  let requests = 0
  let streak = 0
  let longestMs = 0

  async function send(path: string, requested: Requested = {}): Promise<Reply> {
    const url = `${urls[requests % urls.length]}${path}`
    requests += 1
    const since = performance.now()
    const reply = await fetchText(url, requested, signal)
    longestMs = Math.max(longestMs, performance.now() - since)
    if (reply.status !== 0 && reply.status < 500) {
      streak += 1
      return reply
    }
    streak = 0
    const what = `${path.split('?')[0]} ${reply.status} ${codeIn(reply.text)}`
    failures.push({ since, at: performance.now(), what })
    // The pause of a client before it retries.
    await pause(100)
    return reply
  }

  return {
    send,
    failures,
    get requests() {
      return requests
    },
    /** Responses since the last failure. */
    get streak() {
      return streak
    },
    /** Longest wait of a client since the last call. */
    takeLongestMs(): number {
      const longest = longestMs
      longestMs = 0
      return longest
    },
  }
}

async function fetchText(
  url: string,
  { method, body, token }: Requested,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    const response = await fetch(url, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    return { status: 0, text: String(error instanceof Error ? (error.cause ?? error) : error) }
  }
}

function codeIn(text: string): string {
  return /"error_code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 80)
}
