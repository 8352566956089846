import type { Dispatcher } from 'undici'

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT'
  /** From the server's root, with the query. */
  path: string
  /** Sent as the bearer token. */
  token?: string
  /** Sent as JSON. */
  body?: object
  /** Sent as a form. */
  form?: Record<string, string>
}

export interface Response {
  status: number
  headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/**
 * Sends one request and reads the whole response. Throws when the connection breaks. Uses undici’s dispatch, its
 * cheapest interface: the generator shares the processor with the server.
 */
export function exchange(dispatcher: Dispatcher, prefix: string, request: HttpRequest) {
  return new Promise<Response>((resolve, reject) => {
    const chunks: Buffer[] = []
    const response = {
      status: 0,
      headers: {},
      // Few scenarios read it, and a page of users takes longer to decode than to receive.
      get body() {
        return Buffer.concat(chunks).toString()
      },
    }
    dispatcher.dispatch(
      {
        method: request.method,
        path: prefix + request.path,
        headers: buildHeaders(request),
        body: encodeBody(request),
      },
      {
        // undici detects a handler of the current interface by this method.
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          response.status = status
          response.headers = headers
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          resolve(response)
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

function encodeBody({ body, form }: HttpRequest): string | null {
  if (form) return new URLSearchParams(form).toString()
  return body ? JSON.stringify(body) : null
}

function buildHeaders({ token, body, form }: HttpRequest): Record<string, string> {
  return {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
  }
}

/** "422 anonymous_provider_disabled", or the bare status when the body names no error. */
export function describeResponse({ status, body }: Response): string {
  const match = /"(?:error_code|code|error)":"([a-z0-9_]+)"/.exec(body)
  return match ? `${status} ${match[1]}` : `${status}`
}
