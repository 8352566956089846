/** The parts of a request that its links need. */
import type { FastifyRequest } from 'fastify'

import type { Deps } from '../../plugins/define-plugin.ts'
import type { LinkContext } from '../otp/link-context.ts'
import { type PkceInput, readPkce } from './pkce.ts'
import { type RedirectPolicy, resolveTarget } from './redirects/index.ts'

/**
 * `redirectTo` takes precedence over that of the request. Throws validation_failed for incomplete or malformed PKCE
 * fields.
 */
export function readLinkContext(
  deps: Deps<'config' | 'mailer'> & RedirectPolicy,
  request: FastifyRequest,
  fields: PkceInput,
  redirectTo?: string,
): LinkContext {
  return {
    redirectTo: resolveTarget(deps, request, redirectTo),
    baseUrl: deps.mailer.baseUrl(request.headers),
    pkce: readPkce(fields),
    network: request.sendingNetwork,
  }
}
