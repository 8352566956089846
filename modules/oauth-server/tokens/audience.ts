/** The audience of a client's access tokens (RFC 8707). */
import type { FastifyInstance } from 'fastify'

import { type ApiError, invalidTarget } from '../../../schemas/errors.ts'
import { findSameUri } from '../../../schemas/values/uris.ts'
import type { Client } from '../clients/client.ts'

/**
 * Whether tokens of the client have the user's role, and the audience that the database authorizes. Anyone may register
 * a client, so the operator allows it for those that registered themselves: for all, or for one by
 * `include_default_audience`.
 */
export function hasDataAccess({ config }: FastifyInstance, client: Client): boolean {
  if (!client.isSelfRegistered) return true
  return (
    client.settings.include_default_audience ??
    config.AUTH_OAUTH_SERVER_SELF_REGISTERED_CLIENTS_DATA_ACCESS
  )
}

/** Whether a token for these resources has the audience of user tokens. */
function includesDefaultAudience(
  app: FastifyInstance,
  client: Client,
  resources: readonly string[],
): boolean {
  const isResourceOnly = resources.length > 0 && client.settings.include_default_audience === false
  return hasDataAccess(app, client) && !isResourceOnly
}

/** The host of the site whose data a token for these resources gives access to; undefined where it gives none. */
export function findDataSite(
  app: FastifyInstance,
  client: Client,
  resources: readonly string[],
): string | undefined {
  if (!includesDefaultAudience(app, client, resources)) return undefined
  return new URL(app.config.AUTH_SITE_URL).host
}

/**
 * The resource servers, and the audience of user tokens where the client has it. Otherwise the token is valid at the
 * resource servers only, or at this server's userinfo endpoint.
 */
export function listTokenAudiences(
  app: FastifyInstance,
  client: Client,
  resources: readonly string[],
  aud: string | null,
): string[] {
  if (includesDefaultAudience(app, client, resources)) return [...resources, aud ?? '']
  return resources.length > 0 ? [...resources] : [app.jwt.issuer]
}

/** The resources of one token: the requested ones, among those granted and as they are. Returns invalid_target for others. */
export function narrowResources(
  granted: readonly string[],
  requested: readonly string[],
): readonly string[] | ApiError {
  if (requested.length === 0) return granted
  const found = requested.map((resource) => findSameUri(granted, resource))
  if (found.includes(undefined)) {
    return invalidTarget('This resource was not part of the authorization request')
  }
  return [...new Set(found.filter((resource) => resource !== undefined))]
}
