/** The parts of a request that its links need. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { LinkContext } from '../otp/link-context.ts'
import { type PkceInput, readPkce } from './pkce.ts'
import { resolveTarget } from './redirects/index.ts'

/**
 * `redirectTo` takes precedence over that of the request. Throws validation_failed for incomplete or malformed PKCE
 * fields.
 */
export function readLinkContext(
  app: FastifyInstance,
  request: FastifyRequest,
  fields: PkceInput,
  redirectTo?: string,
): LinkContext {
  return {
    redirectTo: resolveTarget(app, request, redirectTo),
    baseUrl: app.mailer.baseUrl(request.headers),
    pkce: readPkce(fields),
    network: request.sendingNetwork,
  }
}
