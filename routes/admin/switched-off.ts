/** What admins of a GoTrue set up and this server does not offer: refused by the codes that clients know. */
import type { FastifyPluginAsync } from 'fastify'

import {
  type ApiError,
  featureDisabled,
  oauthServerDisabled,
  samlProviderDisabled,
} from '../../errors.ts'

const noCustomProviders = () => featureDisabled('Custom providers are disabled')

const refusals: readonly [path: string, refuse: () => ApiError][] = [
  ['/admin/oauth/*', oauthServerDisabled],
  ['/admin/sso/*', samlProviderDisabled],
  ['/admin/custom-providers', noCustomProviders],
  ['/admin/custom-providers/*', noCustomProviders],
]

const switchedOff: FastifyPluginAsync = async (fastify) => {
  for (const [path, refuse] of refusals) {
    fastify.all(path, { schema: { hide: true } }, async () => {
      throw refuse()
    })
  }
}

export default switchedOff
