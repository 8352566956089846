/** The requested scope (RFC 6749 §3.3) and resource servers (RFC 8707). */
import type { FastifyInstance } from 'fastify'

import { findSameUri } from '../../../schemas/values/uris.ts'
import type { Client } from '../clients/client.ts'
import { isAbsoluteUri } from '../clients/redirect-uris.ts'
import { scopeList, supportedScopes } from '../scopes.ts'
import { AuthorizationError } from './sent.ts'

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

/**
 * The requested resources as they are registered: their resource server compares `aud` with that spelling. RFC 8707
 * §2.1: registered resources only, otherwise any client could get tokens for any audience. Throws AuthorizationError.
 */
export function readResources(
  { config }: FastifyInstance,
  { settings }: Client,
  sent: readonly string[],
): string[] {
  const registered = [...config.AUTH_OAUTH_SERVER_RESOURCES, ...(settings.resources ?? [])]
  const found = sent.map((resource) => {
    if (!isAbsoluteUri(resource) || new URL(resource).search) {
      throw new AuthorizationError(
        'invalid_target',
        'resource must be an absolute URI without query and fragment',
      )
    }
    const known = findSameUri(registered, resource)
    if (known === undefined) {
      throw new AuthorizationError(
        'invalid_target',
        'This client may not get tokens for this resource: register it in AUTH_OAUTH_SERVER_RESOURCES or for the client',
      )
    }
    return known
  })
  return [...new Set(found)]
}
