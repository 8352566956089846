import type { Dispatcher } from 'undici'

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT'
  /** From the server's root, with the query. */
  path: string
  /** Sent as the bearer token. */
  token?: string
  /** Sent as JSON. */
  body?: object
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/**
 * Sends one request and reads the whole answer. Throws when the connection breaks.
 * Uses undici's dispatch, its cheapest interface: the generator shares the processor with the server.
 */
export function exchange(dispatcher: Dispatcher, prefix: string, request: HttpRequest) {
  return new Promise<Answer>((resolve, reject) => {
    const answer: Answer = { status: 0, headers: {}, body: '' }
    const chunks: Buffer[] = []
    dispatcher.dispatch(
      {
        method: request.method,
        path: prefix + request.path,
        headers: headersOf(request),
        body: request.body ? JSON.stringify(request.body) : null,
      },
      {
        // undici takes a handler for one of the present form by this method.
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          answer.status = status
          answer.headers = headers
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          answer.body = Buffer.concat(chunks).toString()
          resolve(answer)
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

function headersOf({ token, body }: HttpRequest): Record<string, string> {
  return {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
}

/** "422 anonymous_provider_disabled", or the bare status when the body names no error. */
export function describeAnswer({ status, body }: Answer): string {
  const match = /"(?:error_code|code|error)":"([a-z0-9_]+)"/.exec(body)
  return match ? `${status} ${match[1]}` : `${status}`
}
