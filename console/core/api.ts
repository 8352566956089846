/** Requests to the admin API. Only core/credentials.ts calls other endpoints. */
import { base } from './base.ts'
import { freshToken, rejectToken } from './credentials.ts'
import { askForProof } from './proof.ts'

export class RequestError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string

  constructor(status: number, { code, message }: { code: string; message: string }, id = '') {
    super(message)
    this.status = status
    this.code = code
    this.requestId = id
  }
}

/** A response body that is not JSON. */
export class Text {
  readonly text: string
  readonly type: string

  constructor(text: string, type: string) {
    this.text = text
    this.type = type
  }
}

interface ApiRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: object | Text
  signal?: AbortSignal
}

interface RequestResult<T> {
  body: T
  headers: Headers
}

/** Throws RequestError. Asks for a proof of identity where the API needs one. `T` is the documented response of the path. */
export async function requestApi<T>(
  path: string,
  request: ApiRequest = {},
): Promise<RequestResult<T>> {
  try {
    return await requestOnce<T>(path, request)
  } catch (error) {
    if (!needsProof(error)) throw error
    const isGiven = await askForProof()
    if (!isGiven) throw withMessage(error, cancelled)
  }
  try {
    return await requestOnce<T>(path, request)
  } catch (error) {
    if (!needsProof(error)) throw error
    throw withMessage(error, tooNew)
  }
}

/** The API's own message names requests, which is of no use in a dialog. */
const cancelled = 'Nothing was changed, because you did not confirm your identity.'
const tooNew =
  'Nothing was changed: the sign-in method that you used was added within the last day. Sign in with an older one.'

const withMessage = ({ status, code, requestId }: RequestError, message: string): RequestError =>
  new RequestError(status, { code, message }, requestId)

const needsProof = (error: unknown): error is RequestError =>
  error instanceof RequestError && error.code === 'reauthentication_needed'

async function requestOnce<T>(path: string, request: ApiRequest): Promise<RequestResult<T>> {
  const response = await send(path, request, await freshToken())
  if (!isTokenRejected(response)) return read<T>(response)
  // The token may have expired in transit; a second rejection signs out.
  await rejectToken()
  return read<T>(await send(path, request, await freshToken()))
}

/** Returns the body only. */
export async function getBody<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await requestApi<T>(path, signal ? { signal } : {})).body
}

export async function changeByApi<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object | Text,
): Promise<T> {
  return (await requestApi<T>(path, body ? { method, body } : { method })).body
}

/** Downloads a response as a file. The token is sent in a header, so that no URL contains it. */
export async function download(path: string, name: string): Promise<void> {
  const response = await send(path, {}, await freshToken())
  if (!response.ok) await read(response)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** A path with the parameters that have a value. */
export function withQuery(path: string, values: Record<string, string | number | undefined>) {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`
}

const json = 'application/json'

/** An id from the address bar may contain `..`, which would name another endpoint. */
function checkPath(path: string): void {
  const [written = ''] = `${base}${path}`.split('?')
  if (URL.parse(written, location.origin)?.pathname === written) return
  throw new RequestError(404, { code: 'not_found', message: 'There is no such page.' })
}

async function send(path: string, { method = 'GET', body, signal }: ApiRequest, token: string) {
  checkPath(path)
  const sent = body && !(body instanceof Text) ? new Text(JSON.stringify(body), json) : body
  const headers = {
    authorization: `Bearer ${token}`,
    ...(sent && { 'content-type': sent.type }),
  }
  const init = { method, headers, ...(sent && { body: sent.text }) }
  try {
    return await fetch(base + path, { ...init, credentials: 'omit', ...(signal && { signal }) })
  } catch (error) {
    if (signal?.aborted) throw error
    const message = 'The server cannot be reached. Check your connection, then try again.'
    throw new RequestError(0, { code: 'unreachable', message })
  }
}

function isTokenRejected({ status }: Response): boolean {
  return status === 401
}

async function read<T>(response: Response): Promise<RequestResult<T>> {
  const { headers, status } = response
  const text = await response.text()
  const body = text === '' ? null : JSON.parse(text)
  if (response.ok) return { body, headers }
  const code = body?.error_code ?? String(body?.code ?? status)
  const message = body?.msg ?? body?.message ?? `The server responded with status ${status}.`
  throw new RequestError(status, { code, message }, headers.get('x-request-id') ?? '')
}
