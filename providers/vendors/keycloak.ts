import { isSameUri } from '../../schemas/values/uris.ts'
import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { ProviderSettings } from '../core/types.ts'
import { asBoolean, asRecord, asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'
import { genericProfile, otherClaims } from '../oidc/generic-claims.ts'

export const keycloak: NamedProviderDefinition = {
  name: 'Keycloak',
  docs: {
    title: 'Keycloak',
    register: 'the admin console of your Keycloak (realm, Clients)',
    steps: [
      'Create an OpenID Connect client with client authentication and the standard flow on.',
      'Enter the redirect URI under "Valid redirect URIs"; the secret is on the tab "Credentials".',
    ],
    scopes: 'openid profile email',
    url: 'required: the realm, `https://keycloak.example.com/realms/<realm>`',
    notes: ['Addresses are verified if the user has "Email verified" in Keycloak.'],
  },

  create(settings, upstream) {
    return oauth2Provider(settings, upstream, {
      endpoints() {
        const issuer = realm(settings)
        const protocol = `${issuer}/protocol/openid-connect`
        return { authorize: `${protocol}/auth`, token: `${protocol}/token`, issuer }
      },
      scopes: ['openid', 'profile', 'email'],
      pkce: true,
      async profile(grant) {
        const iss = realm(settings)
        // The id_token is useful only to a client that sent its own nonce.
        if (grant.callback.secrets.nonce !== undefined) {
          const accepts = (issuer: string) => isSameUri(issuer, iss)
          await verifyCallbackIdToken(upstream.issuers, grant, { accepts, settings })
        }
        const user = asRecord(await grant.get(`${iss}/protocol/openid-connect/userinfo`))
        const sub = asText(user.sub)
        const custom = otherClaims(user, ['name', 'sub', 'email', 'email_verified'])
        return {
          sub,
          claims: { ...toProfileNames(sub, asText(user.name)), ...custom, iss },
          emails: email(asText(user.email), { verified: asBoolean(user.email_verified) }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, { url }) => url !== undefined && isSameUri(issuer, url.replace(/\/$/, '')),
    nonce: true,
    profile: (claims) => genericProfile(claims),
  },
}

function realm({ url }: ProviderSettings): string {
  if (url) return url.replace(/\/$/, '')
  throw new ProviderError('configuration', 'the realm URL is missing')
}
