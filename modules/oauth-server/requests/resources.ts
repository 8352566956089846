/** The requested resource servers (RFC 8707). */
import type { FastifyInstance } from 'fastify'

import { findSameUri } from '../../../schemas/values/uris.ts'
import type { Client } from '../clients/client.ts'
import { isAbsoluteUri } from '../clients/urls.ts'
import { AuthorizationError } from './authorization-error.ts'

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
