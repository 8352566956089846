import type { ProviderDefinition } from '../core/provider.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Claims, ProviderHttp, ProviderSettings } from '../core/types.ts'
import { openidProfile } from '../custom-claims.ts'
import { customFlow } from '../custom-flow.ts'
import { asRecord, asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import type { ProfileSources } from '../oauth/types.ts'
import { verifyCallbackIdToken } from './callback-id-token.ts'
import { discoveredEndpoints } from './issuers.ts'

const standardScopes = ['openid', 'email', 'profile']

/** A generic OpenID provider, by its issuer. */
export const openidConnect: ProviderDefinition = {
  docs: {
    title: 'Any OpenID Connect provider',
    register: 'the console of the provider',
    steps: [
      'Register a confidential web client for the authorization code flow.',
      'Choose a name: `<NAME>` in the variables, and in lower case `provider` in requests.',
    ],
    scopes: 'openid email profile',
    url: 'not used',
    variables: {
      'AUTH_EXTERNAL_OIDC_<NAME>_ISSUER':
        'required: the issuer, exactly as in its metadata at `/.well-known/openid-configuration`',
      'AUTH_EXTERNAL_OIDC_<NAME>_SCOPES': 'instead of `openid email profile`',
      'AUTH_EXTERNAL_OIDC_<NAME>_SKIP_NONCE_CHECK':
        'true for a provider that does not return the nonce in its id_token; a wrong nonce is still rejected',
    },
    notes: [
      'If the id_token has no email address, the userinfo endpoint is used.',
      'Addresses count as verified when the claim `email_verified` is true.',
    ],
  },

  create(settings, upstream) {
    const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
    return oauth2Provider(settings, upstream, {
      endpoints: (now, maxWaitMs) =>
        discoveredEndpoints(upstream.issuers, getMetadataUrl(settings), accepts)(now, maxWaitMs),
      scopes: settings.scopes ?? standardScopes,
      pkce: true,
      nonce: true,
      ...customFlow(settings, { isOpenid: true }),
      async profile(grant) {
        const discoverAt = settings.custom?.discoveryUrl && getMetadataUrl(settings)
        const check = { accepts, settings, ...(discoverAt && { discoverAt }) }
        // Some custom providers do not send an id_token.
        const hasIdToken = grant.tokens.idToken !== '' || !settings.custom
        const claims = hasIdToken ? await verifyCallbackIdToken(upstream.issuers, grant, check) : {}
        const claimsWithUserinfo = await withUserinfo(claims, grant, settings, upstream)
        return openidProfile(claimsWithUserinfo, settings.custom)
      },
    })
  },

  idToken: {
    accepts: acceptsIssuer,
    nonce: true,
    discoverAt: (settings) =>
      settings.custom?.discoveryUrl ? getMetadataUrl(settings) : undefined,
    profile: (claims, settings) => openidProfile(claims, settings.custom),
  },
}

function acceptsIssuer(issuer: string, settings: ProviderSettings): boolean {
  return issuer === settings.issuer
}

/** The source of the metadata: the issuer, or the URL of the document. */
function getMetadataUrl(settings: ProviderSettings): string | URL {
  const { discoveryUrl } = settings.custom ?? {}
  return discoveryUrl ? new URL(discoveryUrl) : requireIssuer(settings)
}

function requireIssuer({ issuer }: ProviderSettings): string {
  if (issuer) return issuer
  throw new ProviderError('configuration', 'the issuer is missing')
}

/** Many providers have the claims of a scope in userinfo only (OpenID Connect Core §5.4). */
async function withUserinfo(
  claims: Claims,
  { callback, get }: ProfileSources,
  settings: ProviderSettings,
  { issuers }: ProviderHttp,
): Promise<Claims> {
  if (asText(claims.email) !== '') return claims
  const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
  const metadata = await issuers.metadata(getMetadataUrl(settings), accepts, callback.now)
  if (metadata.userinfoEndpoint === '') return claims
  const userinfo = asRecord(await get(metadata.userinfoEndpoint))
  // OpenID Connect Core §5.3.2: prevents taking the address of another user.
  if (claims.sub !== undefined && userinfo.sub !== claims.sub) {
    throw new ProviderError('profile', 'userinfo has another sub')
  }
  return { ...userinfo, ...claims }
}
