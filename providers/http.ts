/** Requests to providers: bounded in time and size, never redirected, told apart by outcome. */

export interface HttpOptions {
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
  place: string
}

export type Send = (url: string, init?: RequestInit) => Promise<Reply>

/** No reply could be had. The message names the place and the reason, nothing that was sent. */
export class NoReply extends Error {
  override name = 'NoReply'
}

const maxBytes = 1_048_576

/** A function that sends one request. It throws NoReply, and nothing else. */
export function createSend({ fetch, timeoutMs }: HttpOptions): Send {
  return async (url, init = {}) => {
    const place = placeOf(url)
    try {
      const headers = new Headers(init.headers)
      headers.set('user-agent', 'Postern')
      if (!headers.has('accept')) headers.set('accept', 'application/json')
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await fetch(url, { ...init, headers, signal, redirect: 'manual' })
      const { ok, status } = response
      const contentType = response.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
      return { ok, status, contentType, body: await readBody(response), place }
    } catch (error) {
      throw new NoReply(`${place}: ${reasonOf(error)}`)
    }
  }
}

/** The JSON of a reply, or undefined. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function placeOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.host}${parsed.pathname}` : 'an address that is no URL'
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const cause = error.cause instanceof Error ? error.cause : error
  if (error.name === 'TimeoutError') return 'no reply in time'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}
