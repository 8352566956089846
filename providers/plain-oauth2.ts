import type { ProviderDefinition } from './core/provider.ts'
import { ProviderError } from './core/provider-error.ts'
import type { CustomSettings } from './core/types.ts'
import { mappedProfile } from './custom-claims.ts'
import { customFlow } from './custom-flow.ts'
import { asRecord } from './http/json.ts'
import { oauth2Provider } from './oauth/oauth2.ts'

/** A generic OAuth 2.0 provider, by its endpoints. */
export const plainOauth2: Pick<ProviderDefinition, 'create' | 'idToken'> = {
  create(settings, upstream) {
    const { custom } = settings
    return oauth2Provider(settings, upstream, {
      endpoints: () => requireEndpoints(custom),
      scopes: settings.scopes ?? [],
      ...customFlow(settings, { isOpenid: false }),
      async profile({ get }) {
        const { userinfo } = requireEndpoints(custom)
        return mappedProfile(asRecord(await get(userinfo)), custom ?? noMapping)
      },
    })
  },
}

const noMapping = { pkce: true, attributeMapping: {}, claimsAllowlist: [], authorizationParams: {} }

function requireEndpoints(custom: CustomSettings | undefined) {
  if (custom?.endpoints) return custom.endpoints
  throw new ProviderError('configuration', 'the endpoints are missing')
}
