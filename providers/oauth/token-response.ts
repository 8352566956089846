/**
 * Token responses (RFC 6749 §5) as providers send them: JSON or a form, errors with status 200, no token_type, a list
 * of scopes, any content type. The parser of oauth4webapi is strict and would reject providers in use.
 */
import type { Reply } from '../core/http-types.ts'
import type { Tokens } from '../core/types.ts'
import { asText, getPath } from '../http/json.ts'
import { parseResponseJson } from '../http/request.ts'

/** Returns the tokens, or undefined for an error response. */
export function readTokens(reply: Reply): Tokens | undefined {
  const body = parseBody(reply)
  const accessToken = asText(getPath(body, 'access_token'))
  const error = getErrorCode(body)
  if (reply.ok && error === '' && accessToken !== '') {
    return {
      accessToken,
      tokenType: tokenType(asText(getPath(body, 'token_type'))),
      refreshToken: asText(getPath(body, 'refresh_token')),
      idToken: asText(getPath(body, 'id_token')),
      reply: body,
    }
  }
  return undefined
}

/** Returns the error code of a body with any status; '' without an error. */
export function getErrorCode(body: unknown): string {
  const error = getPath(body, 'error')
  if (error === undefined || error === null || error === false || error === '') return ''
  const code = asText(error) || asText(getPath(error, 'code')) || asText(getPath(error, 'type'))
  // Only error codes are logged: a description may repeat the client secret.
  return /^[\w .-]{1,60}$/.test(code) ? code : 'error'
}

/** Describes a response without its content, except for the error code. */
export function describeTokenResponse(reply: Reply): string {
  const error = getErrorCode(parseBody(reply))
  const rest = error || `${reply.contentType || 'untyped'}, ${reply.body.length} characters`
  return `${reply.address}: status ${reply.status}, ${rest}`
}

/** GitHub and some self-hosted servers respond with a form. The content type of either may be any, or missing. */
function parseBody({ body }: Reply): unknown {
  return parseResponseJson(body) ?? Object.fromEntries(new URLSearchParams(body))
}

/** The type is case-insensitive (RFC 6749 §7.1), but some APIs compare it exactly. */
function tokenType(type: string): string {
  return type === '' || type.toLowerCase() === 'bearer' ? 'Bearer' : type
}
