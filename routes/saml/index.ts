/** SAML 2.0 single sign-on: for browsers and identity providers, without a token. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import { samlProviderDisabled } from '../../schemas/errors.ts'
import acs from './acs.ts'
import metadata from './metadata.ts'
import post from './post.ts'
import slo from './slo.ts'
import sso from './sso.ts'

const saml: FastifyPluginAsync = async (app) => {
  if (app.config.AUTH_SAML_ENABLED) {
    return registerRoutes(app, { sso, metadata, acs, post, slo })
  }
  for (const path of ['/sso', '/sso/*']) {
    app.all(path, { schema: { hide: true } }, async () => {
      throw samlProviderDisabled()
    })
  }
}

export default saml
