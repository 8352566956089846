/** LinkedIn: its OpenID Connect provider, and its old API. */
import { isSameUri } from '../../schemas/values/uris.ts'
import { email, fullName, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import type { Claims, Profile } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText, getPath } from '../http/json.ts'
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

const profileQuery =
  'projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))'
const emailQuery = 'q=members&projection=(elements*(handle~))'

export const linkedin: NamedProviderDefinition = {
  name: 'LinkedIn',
  docs: {
    title: 'LinkedIn (old API)',
    register: 'https://www.linkedin.com/developers/apps',
    steps: [
      'For apps that still have the product "Sign In with LinkedIn" from before August 2023.',
    ],
    scopes: 'r_emailaddress r_liteprofile',
    url: 'replaces api.linkedin.com',
    notes: ['LinkedIn gives new apps the OpenID Connect product only: use linkedin_oidc for them.'],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.linkedin.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${api}/oauth/v2/authorization`,
        token: `${api}/oauth/v2/accessToken`,
      }),
      scopes: ['r_emailaddress', 'r_liteprofile'],
      async profile({ get }) {
        const user = await get(`${api}/v2/me?${profileQuery}`)
        const addresses = await get(`${api}/v2/emailAddress?${emailQuery}`)
        const id = asText(getPath(user, 'id'))
        const name = fullName(
          localized(getPath(user, 'firstName')),
          localized(getPath(user, 'lastName')),
        )
        const images = getPath(user, 'profilePicture', 'displayImage~', 'elements')
        const picture = asText(getPath(images, 0, 'identifiers', 0, 'identifier'))
        return {
          sub: id,
          claims: { ...toProfileNames(id, name, picture), iss: api },
          emails: email(asText(getPath(addresses, 'elements', 0, 'handle~', 'emailAddress')), {
            verified: true,
          }),
        }
      },
    })
  },
}

function localized(name: unknown): string {
  const language = asText(getPath(name, 'preferredLocale', 'language'))
  const country = asText(getPath(name, 'preferredLocale', 'country'))
  return asText(getPath(name, 'localized', `${language}_${country}`))
}
