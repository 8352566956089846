/** The audience of a client's access tokens (RFC 8707). */
import { invalidTarget } from '../../../schemas/errors.ts'
import type { Client } from '../clients/client.ts'

/**
 * The resource servers, and the audience of user tokens, which the database authorizes. Without that audience the token
 * is valid at the resource servers only; the operator decides this for each client.
 */
export function listTokenAudiences(
  { settings }: Client,
  resources: readonly string[],
  aud: string | null,
): string[] {
  const isResourceOnly = resources.length > 0 && settings.include_default_audience === false
  return isResourceOnly ? [...resources] : [...resources, aud ?? '']
}

/** The resources of one token: the requested ones, among those granted. Throws invalid_target. */
export function narrowResources(
  granted: readonly string[],
  requested: readonly string[],
): readonly string[] {
  const foreign = requested.find((resource) => !granted.includes(resource))
  if (foreign !== undefined) {
    throw invalidTarget('This resource was not part of the authorization request')
  }
  return requested.length > 0 ? requested : granted
}
