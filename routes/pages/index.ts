/** The hosted pages of sign-in, consent, devices, sign-out and the account, loaded when they are enabled. */
import type { FastifyPluginAsync } from 'fastify'

import { hasHostedPages } from '../../modules/flows/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'

const pages: FastifyPluginAsync = async (fastify) => {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_OAUTH_SERVER_ENABLED } = fastify.config
  if (hasHostedPages(fastify)) {
    const { showErrors } = await import('./errors.ts')
    const { pageRoutes } = await import('./sign-in/index.ts')
    showErrors(fastify)
    await registerRoutes(fastify, pageRoutes)
  }
  if (AUTH_OAUTH_SERVER_ENABLED) {
    const { oauthPages } = await import('./oauth/index.ts')
    await registerRoutes(fastify, oauthPages)
  }
  if (AUTH_ACCOUNT_PAGE_ENABLED) {
    const { accountPageRoutes } = await import('./account/index.ts')
    await registerRoutes(fastify, accountPageRoutes)
  }
}

export default pages
