import { isSameUri } from '../../schemas/values/uris.ts'
import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import type { Claims, Profile, ProviderSettings } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asRecord, asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'
import { discoveredEndpoints } from '../oidc/issuers.ts'

const standard = 'https://accounts.google.com'

export const google: NamedProviderDefinition = {
  name: 'Google',
  docs: {
    title: 'Google',
    register: 'https://console.cloud.google.com/auth/clients',
    steps: [
      'Configure the consent screen with the scopes openid, email and profile.',
      'Create an OAuth client of type "Web application" and add the redirect URI.',
    ],
    scopes: 'openid email profile',
    url: 'the issuer, for tests',
    notes: [
      'For native apps and One Tap, append their client ids, separated by commas: each is an accepted audience.',
      'Pass `access_type=offline` and `prompt=consent` for a provider_refresh_token; `hd` limits the choice to a Workspace domain (check `custom_claims.hd` as well).',
    ],
  },

  create(settings, upstream) {
    const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
    const discoverAt = baseUrl(settings, standard)
    const api = baseUrl(settings, 'https://www.googleapis.com')
    return oauth2Provider(settings, upstream, {
      endpoints: discoveredEndpoints(upstream.issuers, discoverAt, accepts),
      scopes: ['openid', 'email', 'profile'],
      pkce: true,
      nonce: true,
      async profile(grant) {
        if (grant.tokens.idToken !== '') {
          const check = { accepts, discoverAt, settings }
          return toProfile(await verifyCallbackIdToken(upstream.issuers, grant, check))
        }
        const iss = `${api}/userinfo/v2/me`
        return toProfile({ ...asRecord(await grant.get(iss)), iss })
      },
    })
  },

  idToken: {
    accepts: acceptsIssuer,
    discoverAt: (settings) => baseUrl(settings, standard),
    nonce: true,
    profile: toProfile,
  },
}

function acceptsIssuer(issuer: string, settings: ProviderSettings): boolean {
  const expected = baseUrl(settings, standard)
  return isSameUri(issuer, expected) || (!settings.url && issuer === 'accounts.google.com')
}

/** Reads the id_token and the older userinfo response, which names two claims differently. */
function toProfile(claims: Claims): Profile {
  const sub = asText(claims.sub) || asText(claims.id)
  const verified = asBoolean(claims.email_verified) || asBoolean(claims.verified_email)
  const hd = asText(claims.hd)
  return {
    sub,
    claims: {
      ...toProfileNames(sub, asText(claims.name), asText(claims.picture)),
      iss: claims.iss,
      ...(hd !== '' && { custom_claims: { hd } }),
    },
    emails: email(asText(claims.email), { verified }),
  }
}
