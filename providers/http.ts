/** Requests to providers: limited in time, never redirected, and a missing reply is an error of its own. */

export interface HttpOptions {
  /** The server's own, which limits the size of an answer. */
  fetch: typeof globalThis.fetch
  /** For one request, its body included. */
  timeoutMs: number
}

export interface Reply {
  ok: boolean
  status: number
  contentType: string
  body: string
  /** Host and path, without the query: some queries carry proofs. */
  address: string
}

export type Request = (url: string, init?: RequestInit) => Promise<Response>

/** Sends one request. Throws NoReply, and nothing else. */
export type Send = (url: string, init?: RequestInit) => Promise<Reply>

/** No reply could be had. The message names the address and the reason, nothing that was sent. */
export class NoReply extends Error {
  override name = 'NoReply'
}

/** A `fetch` within the limits, for libraries that want one. */
export function createRequest({ fetch, timeoutMs }: HttpOptions): Request {
  return (url, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('user-agent', 'Postern')
    if (!headers.has('accept')) headers.set('accept', 'application/json')
    const signal = AbortSignal.timeout(timeoutMs)
    return fetch(url, { ...init, headers, signal, redirect: 'manual' })
  }
}

export function createSend(request: Request): Send {
  return (url, init) => readReply(url, () => request(url, init))
}

/** Reads what a request to this URL is answered with. Throws NoReply, and nothing else. */
export async function readReply(url: string, ask: () => Promise<Response>): Promise<Reply> {
  const address = addressOf(url)
  try {
    const response = await ask()
    const { ok, status } = response
    const contentType = response.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
    return { ok, status, contentType, body: await response.text(), address }
  } catch (error) {
    throw new NoReply(`${address}: ${reasonOf(error)}`)
  }
}

/** Whether the reply says that the other side cannot answer now, whoever asks. */
export function isDown({ status }: Pick<Reply, 'status'>): boolean {
  return status >= 500 || status === 429
}

/** The JSON of a reply, or undefined. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function addressOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.host}${parsed.pathname}` : 'an address that is no URL'
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const cause = error.cause instanceof Error ? error.cause : error
  if (error.name === 'TimeoutError') return 'no reply in time'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}
