/** Requests to the admin API. Only core/credentials.ts calls other endpoints. */
import type { paths } from './api-types.d.ts'
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

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The type of a path with values for its parameters: `/users/${string}` of `/users/{id}`. */
type Filled<Path extends string> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : Path

/** The documented endpoint of a path that has its values and its query; never of any other. */
type Endpoint<Path extends string, M extends Method> = Path extends `${infer Name}?${string}`
  ? Endpoint<Name, M>
  : {
      [Known in keyof paths]: [Path, Filled<Known>] extends [Filled<Known>, Path]
        ? paths[Known][Lowercase<M>]
        : never
    }[keyof paths]

interface Json<Body> {
  content: { 'application/json': Body }
}

type Answer<Of> = Of extends { responses: infer All }
  ? { [Status in keyof All]: All[Status] extends Json<infer Body> ? Body : null }[keyof All]
  : never

/** The names of the fields. Their values are those of a form, which the API checks. */
type Fields<Of> = Of extends { requestBody?: Json<infer Body> }
  ? { [Name in Body extends unknown ? keyof Body : never]?: unknown }
  : Record<string, never>

/** A path is rejected by the compiler when docs/openapi.json does not have it with this method. */
type Documented<Path extends string, M extends Method> = [Answer<Endpoint<Path, M>>] extends [never]
  ? never
  : Path

interface ApiRequest<M = Method, Body = object> {
  method?: M
  body?: Body | Text
  signal?: AbortSignal
}

interface RequestResult<Body> {
  body: Body
  headers: Headers
}

/** Throws RequestError. Asks for a proof of identity where the API needs one. */
export async function requestApi<const Path extends string, M extends Method = 'GET'>(
  path: Path & Documented<Path, M>,
  request: ApiRequest<M, Fields<Endpoint<Path, M>>> = {},
): Promise<RequestResult<Answer<Endpoint<Path, M>>>> {
  try {
    return await requestOnce(path, request)
  } catch (error) {
    if (!needsProof(error)) throw error
    const isGiven = await askForProof()
    if (!isGiven) throw withMessage(error, cancelled)
  }
  try {
    return await requestOnce(path, request)
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
export async function getBody<const Path extends string>(
  path: Path & Documented<Path, 'GET'>,
  signal?: AbortSignal,
): Promise<Answer<Endpoint<Path, 'GET'>>> {
  return (await requestApi<Path>(path, signal ? { signal } : {})).body
}

export async function changeByApi<const Path extends string, M extends Exclude<Method, 'GET'>>(
  method: M,
  path: Path & Documented<Path, M>,
  body?: Fields<Endpoint<Path, M>> | Text,
): Promise<Answer<Endpoint<Path, M>>> {
  return (await requestApi<Path, M>(path, body ? { method, body } : { method })).body
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
export function withQuery<const Path extends string>(
  path: Path,
  values: Record<string, string | number | undefined>,
): Path | `${Path}?${string}` {
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
  const body: unknown = text === '' ? null : JSON.parse(text)
  // The server serializes it by the schema that its documented type is made of.
  if (response.ok) return { body: body as T, headers }
  throw new RequestError(status, describeError(body, status), headers.get('x-request-id') ?? '')
}

/** An error of the API, or of a proxy in front of it. */
function describeError(body: unknown, status: number): { code: string; message: string } {
  const fields: Record<string, unknown> = { ...(typeof body === 'object' ? body : {}) }
  const message = fields.msg ?? fields.message ?? `The server responded with status ${status}.`
  return { code: String(fields.error_code ?? fields.code ?? status), message: String(message) }
}
