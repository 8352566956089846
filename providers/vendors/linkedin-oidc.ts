import { isSameUri } from '../../schemas/values/uris.ts'
import { email, fullName } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import type { Claims, Profile } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'
import { discoveredEndpoints } from '../oidc/issuers.ts'

const standard = 'https://www.linkedin.com/oauth'
const api = 'https://api.linkedin.com/oauth/v2'

export const linkedinOidc: NamedProviderDefinition = {
  name: 'LinkedIn',
  docs: {
    title: 'LinkedIn',
    register: 'https://www.linkedin.com/developers/apps',
    steps: [
      'Create an app and add the product "Sign In with LinkedIn using OpenID Connect".',
      'On the tab "Auth" add the redirect URI.',
    ],
    scopes: 'openid email profile',
    url: 'the issuer, for tests',
    notes: [],
  },

  create(settings, upstream) {
    const issuer = baseUrl(settings, standard)
    const accepts = (claimed: string) => isSameUri(claimed, issuer)
    return oauth2Provider(settings, upstream, {
      endpoints: settings.url
        ? discoveredEndpoints(upstream.issuers, issuer, accepts)
        : () => ({ authorize: `${api}/authorization`, token: `${api}/accessToken` }),
      scopes: ['openid', 'email', 'profile'],
      async profile(grant) {
        const check = { accepts, settings, mayLackNonce: () => true }
        return toProfile(await verifyCallbackIdToken(upstream.issuers, grant, check))
      },
    })
  },
}

function toProfile(claims: Claims): Profile {
  const sub = asText(claims.sub)
  const { iss, given_name, family_name, locale, picture } = claims
  const name = fullName(asText(given_name), asText(family_name)) || asText(claims.name)
  return {
    sub,
    claims: { iss, sub, provider_id: sub, name, given_name, family_name, locale, picture },
    emails: email(asText(claims.email), { verified: asBoolean(claims.email_verified) }),
  }
}
