/** Requests to providers: with a timeout, without redirects. A missing response is a separate error. */

export interface HttpOptions {
  /** The server's fetch, which limits the size of responses. */
  fetch: typeof globalThis.fetch
  /** For one request, its body included. */
  timeoutMs: number
}

/** Sends one request. Throws only NoReply. */
export type Send = (url: string, init?: RequestInit) => Promise<Reply>

export interface Reply {
  ok: boolean
  status: number
  contentType: string
  body: string
  /** Host and path without the query, which may contain secrets. */
  address: string
}

export type Request = (url: string, init?: RequestInit) => Promise<Response>
