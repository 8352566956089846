import { isSameUri } from '../../schemas/values/uris.ts'
import { email } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import type { Claims, Profile } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'

const standard = 'https://marketplace.vercel.com'

export const vercelMarketplace: NamedProviderDefinition = {
  name: 'Vercel',
  docs: {
    title: 'Vercel Marketplace',
    register: 'https://vercel.com/dashboard/integrations/console',
    steps: ['For integrations of the marketplace; the console shows client id and secret.'],
    scopes: 'none',
    url: 'replaces api.vercel.com and the issuer marketplace.vercel.com',
    notes: [],
  },

  create(settings, upstream) {
    const oauth = `${baseUrl(settings, 'https://api.vercel.com')}/oauth/v2`
    const accepts = (issuer: string) => isSameUri(issuer, baseUrl(settings, standard))
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${oauth}/authorization`, token: `${oauth}/accessToken` }),
      scopes: [],
      async profile(grant) {
        const check = { accepts, settings, mayLackNonce: () => true }
        return toProfile(await verifyCallbackIdToken(upstream.issuers, grant, check))
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) => isSameUri(issuer, baseUrl(settings, standard)),
    nonce: true,
    profile: toProfile,
  },
}

function toProfile(claims: Claims): Profile {
  const globalId = asText(claims.global_user_id)
  const sub = globalId === '' ? asText(claims.sub) : `global_user_id:${globalId}`
  return {
    sub,
    claims: {
      iss: claims.iss,
      sub,
      provider_id: sub,
      name: asText(claims.user_name),
      picture: asText(claims.user_avatar_url),
    },
    emails: email(asText(claims.user_email), { verified: true }),
  }
}
