/** The hosted pages of sign-in, consent, devices, sign-out and the account, loaded when they are enabled. */
import type { FastifyPluginAsync } from 'fastify'

import { hasHostedPages } from '../../modules/flows/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'

const pages: FastifyPluginAsync = async (app) => {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_OAUTH_SERVER_ENABLED } = app.config
  if (hasHostedPages(app)) {
    const { showErrors } = await import('./errors.ts')
    const { pageRoutes } = await import('./sign-in/index.ts')
    showErrors(app)
    await registerRoutes(app, pageRoutes)
  }
  if (AUTH_OAUTH_SERVER_ENABLED) {
    const [{ consentRoutes }, { default: device }, { default: logout }] = await Promise.all([
      import('./oauth/consent.ts'),
      import('./oauth/device.ts'),
      import('./oauth/logout.ts'),
    ])
    await registerRoutes(app, { ...consentRoutes, device, logout })
  }
  if (AUTH_ACCOUNT_PAGE_ENABLED) {
    const { accountPageRoutes } = await import('./account/index.ts')
    await registerRoutes(app, accountPageRoutes)
  }
}

export default pages
