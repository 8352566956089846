import { verifyCallbackIdToken } from './callback-id-token.ts'
import { genericProfile } from './generic-claims.ts'
import { discoveredEndpoints } from './issuers.ts'
import { record, text } from './json.ts'
import { type Grant, oauth2Provider } from './oauth2.ts'
import {
  type Claims,
  type ProviderDefinition,
  ProviderError,
  type ProviderSettings,
} from './provider.ts'
import type { Upstream } from './upstream.ts'

const standardScopes = ['openid', 'email', 'profile']

/** Any OpenID provider, by its issuer. */
export const openidConnect: ProviderDefinition = {
  docs: {
    title: 'Any OpenID Connect provider',
    register: 'the console of the provider',
    steps: [
      'Register a confidential web client for the authorization code flow.',
      'Choose a name for it here: `<NAME>` in the variables, the same in lower case as `provider` in requests.',
    ],
    scopes: 'openid email profile',
    url: 'not used',
    variables: {
      'AUTH_EXTERNAL_OIDC_<NAME>_ISSUER':
        'required: the issuer, exactly as its metadata at `/.well-known/openid-configuration` says it',
      'AUTH_EXTERNAL_OIDC_<NAME>_SCOPES': 'instead of `openid email profile`',
      'AUTH_EXTERNAL_OIDC_<NAME>_SKIP_NONCE_CHECK':
        'true for a provider that does not repeat the nonce in its id_token; a wrong one is refused all the same',
    },
    notes: [
      'When the id_token has no address, the userinfo endpoint is asked.',
      'Addresses count as verified when the claim `email_verified` is true.',
    ],
  },

  create(settings, upstream) {
    const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
    return oauth2Provider(settings, upstream, {
      endpoints: (now, patienceMs) =>
        discoveredEndpoints(upstream.issuers, issuerOf(settings), accepts)(now, patienceMs),
      scopes: settings.scopes ?? standardScopes,
      pkce: true,
      nonce: true,
      async profile(grant) {
        const check = { accepts, settings }
        const claims = await verifyCallbackIdToken(upstream.issuers, grant, check)
        return genericProfile(await withUserinfo(claims, grant, settings, upstream))
      },
    })
  },

  idToken: { accepts: acceptsIssuer, nonce: true, profile: (claims) => genericProfile(claims) },
}

function acceptsIssuer(issuer: string, settings: ProviderSettings): boolean {
  return issuer === settings.issuer
}

function issuerOf({ issuer }: ProviderSettings): string {
  if (issuer) return issuer
  throw new ProviderError('configuration', 'the issuer is missing')
}

/** Many providers put the claims of a scope into userinfo only (OpenID Connect Core §5.4). */
async function withUserinfo(
  claims: Claims,
  { callback, get }: Grant,
  settings: ProviderSettings,
  { issuers }: Upstream,
): Promise<Claims> {
  if (text(claims.email) !== '') return claims
  const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
  const metadata = await issuers.metadata(issuerOf(settings), accepts, callback.now)
  if (metadata.userinfoEndpoint === '') return claims
  const userinfo = record(await get(metadata.userinfoEndpoint))
  // Core §5.3.2: without this check a person could get the address of somebody else.
  if (userinfo.sub !== claims.sub) throw new ProviderError('profile', 'userinfo is of another sub')
  return { ...userinfo, ...claims }
}
