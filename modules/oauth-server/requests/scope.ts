/** The requested scope (RFC 6749 §3.3). */
import type { FastifyInstance } from 'fastify'

import type { Client } from '../clients/client.ts'
import { scopeList, supportedScopes } from '../scopes.ts'
import { AuthorizationError } from './authorization-error.ts'

/** The scopes of the client's registration, or all. */
export function allowedScopes(
  { config }: FastifyInstance,
  { settings }: Pick<Client, 'settings'>,
): string[] {
  return settings.scope === undefined ? supportedScopes(config) : scopeList(settings.scope)
}

/** The default scope when none is requested. Throws AuthorizationError. */
export function readScope(
  app: FastifyInstance,
  { settings }: Client,
  sent: string | undefined,
): string {
  const names = scopeList(sent ?? app.config.AUTH_OAUTH_SERVER_DEFAULT_SCOPE)
  if (names.length === 0) throw new AuthorizationError('invalid_scope', 'scope is empty')
  const supported = supportedScopes(app.config)
  const allowed = allowedScopes(app, { settings })
  const unknown = names.find((name) => !supported.includes(name))
  if (unknown !== undefined) {
    throw new AuthorizationError('invalid_scope', `Unknown scope ${printable(unknown)}`)
  }
  const notAllowed = names.find((name) => !allowed.includes(name))
  if (notAllowed !== undefined) {
    throw new AuthorizationError('invalid_scope', `This client may not request ${notAllowed}`)
  }
  return names.join(' ')
}

/** RFC 6749 §4.1.2.1 allows these characters in an error_description. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 100)
}
