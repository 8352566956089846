import { baseUrl } from '../base-url.ts'
import { verifyCallbackIdToken } from '../callback-id-token.ts'
import { email } from '../identity.ts'
import { text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Claims, Profile, Vendor } from '../provider.ts'

const standard = 'https://marketplace.vercel.com'

export const vercelMarketplace: Vendor = {
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
    const accepts = (issuer: string) => issuer === baseUrl(settings, standard)
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${oauth}/authorization`, token: `${oauth}/accessToken` }),
      scopes: [],
      async profile(grant) {
        const check = { accepts, settings, mayLackNonce: () => true }
        return profileOf(await verifyCallbackIdToken(upstream.issuers, grant, check))
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) => issuer === baseUrl(settings, standard),
    nonce: true,
    profile: profileOf,
  },
}

function profileOf(claims: Claims): Profile {
  const globalId = text(claims.global_user_id)
  const sub = globalId === '' ? text(claims.sub) : `global_user_id:${globalId}`
  return {
    sub,
    claims: {
      iss: claims.iss,
      sub,
      provider_id: sub,
      name: text(claims.user_name),
      picture: text(claims.user_avatar_url),
    },
    emails: email(text(claims.user_email), { verified: true }),
  }
}
