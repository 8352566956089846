/** The paths of a disabled OAuth server: rejected with the error code that clients know. */
import type { FastifyContextConfig, FastifyPluginAsync } from 'fastify'

import { oauthServerDisabled } from '../../schemas/errors.ts'

function rejectAll(
  paths: readonly string[],
  config: FastifyContextConfig = {},
): FastifyPluginAsync {
  return async (fastify) => {
    for (const path of paths) {
      fastify.all(path, { config, schema: { hide: true } }, async () => {
        throw oauthServerDisabled()
      })
    }
  }
}

export const disabledPublicPaths = rejectAll([
  '/oauth/*',
  '/.well-known/oauth-authorization-server',
])

export const disabledUserPaths = rejectAll(['/user/oauth/grants', '/oauth/authorizations/*'], {
  isOpenWithoutFactor: true,
  rejectsImpersonation: false,
})

export const disabledAdminPaths = rejectAll(['/admin/oauth/*'])
