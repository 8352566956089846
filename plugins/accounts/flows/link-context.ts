/** What the links of a request need to know of it. */
import type { FastifyRequest } from 'fastify'

import type { House } from '../../define-plugin.ts'
import { type Pkce, type PkceFields, readPkce } from './pkce.ts'
import { type RedirectPolicy, resolveTarget } from './redirects.ts'

/** Plain JSON, so that a queue can hold it. */
export interface LinkContext {
  redirectTo: string
  /** Where this server is reached by whoever opens the link. */
  baseUrl: string
  pkce: Pkce | undefined
  /** The UUID of the message, when the client is told one. */
  messageId?: string
}

/**
 * `redirectTo` comes before what the request itself names. Throws validation_failed for PKCE fields that are incomplete or
 * malformed.
 */
export function linkContext(
  house: House<'config' | 'mailer'> & RedirectPolicy,
  request: FastifyRequest,
  fields: PkceFields,
  redirectTo?: string,
): LinkContext {
  return {
    redirectTo: resolveTarget(house, request, redirectTo),
    baseUrl: house.mailer.baseUrl(request.headers),
    pkce: readPkce(fields),
  }
}
