/** What clients may ask for that this server does not offer: refused by the code they know, not as an unknown path. */
import type { FastifyPluginAsync } from 'fastify'

import {
  type ApiError,
  featureDisabled,
  oauthServerDisabled,
  samlProviderDisabled,
} from '../../errors.ts'

const refusals: readonly [path: string, refuse: () => ApiError][] = [
  ['/sso', samlProviderDisabled],
  ['/sso/*', samlProviderDisabled],
  ['/oauth/*', oauthServerDisabled],
  ['/.well-known/oauth-authorization-server', oauthServerDisabled],
  ['/scim/*', () => featureDisabled('SCIM is not part of this server')],
]

const switchedOff: FastifyPluginAsync = async (fastify) => {
  for (const [path, refuse] of refusals) {
    fastify.all(path, { schema: { hide: true } }, async () => {
      throw refuse()
    })
  }
}

export default switchedOff
