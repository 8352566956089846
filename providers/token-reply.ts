/**
 * Replies of token endpoints (RFC 6749 §5), as they are met: JSON or a form, errors with status 200, no token_type,
 * a list of scopes, any content type. oauth4webapi's reader is strict, and would refuse vendors that people use.
 */
import { parseJson, type Reply } from './http.ts'
import { at, text } from './json.ts'

export interface Tokens {
  accessToken: string
  tokenType: string
  refreshToken: string
  idToken: string
  /** The whole reply, for providers that put more into it. */
  reply: unknown
}

/** The tokens, or undefined for a refusal. */
export function readTokens(reply: Reply): Tokens | undefined {
  const body = parseBody(reply)
  const accessToken = text(at(body, 'access_token'))
  const refused = errorOf(body)
  if (reply.ok && refused === '' && accessToken !== '') {
    return {
      accessToken,
      tokenType: tokenType(text(at(body, 'token_type'))),
      refreshToken: text(at(body, 'refresh_token')),
      idToken: text(at(body, 'id_token')),
      reply: body,
    }
  }
  return undefined
}

/** The error code of a body, whatever its status; '' when it is not an error. */
export function errorOf(body: unknown): string {
  const error = at(body, 'error')
  if (error === undefined || error === null || error === false || error === '') return ''
  const code = text(error) || text(at(error, 'code')) || text(at(error, 'type'))
  // Only what looks like a code is logged: sentences may repeat the secret that was sent.
  return /^[\w .-]{1,60}$/.test(code) ? code : 'error'
}

/** What can be said about a reply without repeating any of its content but the error code. */
export function describe(reply: Reply): string {
  const error = errorOf(parseBody(reply))
  const rest = error || `${reply.contentType || 'untyped'}, ${reply.body.length} characters`
  return `${reply.address}: status ${reply.status}, ${rest}`
}

function parseBody({ contentType, body }: Reply): unknown {
  const json = parseJson(body)
  if (json !== undefined) return json
  // GitHub and some self-hosted servers answer with a form, not always labelled as one.
  const form = ['application/x-www-form-urlencoded', 'text/plain'].includes(contentType)
  return form ? Object.fromEntries(new URLSearchParams(body)) : undefined
}

/** RFC 6749 §7.1: the type is compared without case, but not every API does. */
function tokenType(type: string): string {
  return type === '' || type.toLowerCase() === 'bearer' ? 'Bearer' : type
}
