/**
 * Every provider with a file in vendors/: the single list of names for requests, variables, documentation and emails. A
 * new one is a file, with an import and an entry here.
 */
import { isSameUri } from '../schemas/values/uris.ts'
import type { NamedProviderDefinition, Provider, ProviderDefinition } from './core/provider.ts'
import { ProviderError } from './core/provider-error.ts'
import type { Claims, CustomSettings, ProviderHttp, ProviderSettings } from './core/types.ts'
import { mappedProfile, openidProfile } from './custom-claims.ts'
import { asRecord, asText } from './http/json.ts'
import { oauth2Provider } from './oauth/oauth2.ts'
import type { OAuth2Flow, ProfileSources } from './oauth/types.ts'
import { verifyCallbackIdToken } from './oidc/callback-id-token.ts'
import { discoveredEndpoints } from './oidc/issuers.ts'
import { apple } from './vendors/apple.ts'
import { azure } from './vendors/azure.ts'
import { bitbucket } from './vendors/bitbucket.ts'
import { discord } from './vendors/discord.ts'
import { facebook } from './vendors/facebook.ts'
import { figma } from './vendors/figma.ts'
import { fly } from './vendors/fly.ts'
import { github } from './vendors/github.ts'
import { gitlab } from './vendors/gitlab.ts'
import { google } from './vendors/google.ts'
import { kakao } from './vendors/kakao.ts'
import { keycloak } from './vendors/keycloak.ts'
import { linkedin, linkedinOidc } from './vendors/linkedin.ts'
import { notion } from './vendors/notion.ts'
import { slack, slackOidc } from './vendors/slack.ts'
import { snapchat } from './vendors/snapchat.ts'
import { spotify } from './vendors/spotify.ts'
import { twitch } from './vendors/twitch.ts'
import { twitter } from './vendors/twitter.ts'
import { vercelMarketplace } from './vendors/vercel-marketplace.ts'
import { workos } from './vendors/workos.ts'
import { x } from './vendors/x.ts'
import { zoom } from './vendors/zoom.ts'

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
        'required: the issuer, as in its metadata at `/.well-known/openid-configuration`',
      'AUTH_EXTERNAL_OIDC_<NAME>_SCOPES': 'instead of `openid email profile`',
      'AUTH_EXTERNAL_OIDC_<NAME>_SKIP_NONCE_CHECK':
        'true for a provider that does not return the nonce in its id_token; a wrong nonce is still rejected',
      'AUTH_EXTERNAL_OIDC_<NAME>_ID_TOKEN_SIGNED_RESPONSE_ALG':
        '`HS256` also accepts id_tokens that are signed with the client secret, as those of LINE',
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
  return settings.issuer !== undefined && isSameUri(issuer, settings.issuer)
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

/** A generic OAuth 2.0 provider, by its endpoints. */
const plainOauth2: Pick<ProviderDefinition, 'create' | 'idToken'> = {
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

/** In the order of the configuration reference: the eighteen providers of the specification, then ours. */
const vendors = {
  apple,
  azure,
  bitbucket,
  discord,
  facebook,
  figma,
  github,
  gitlab,
  google,
  keycloak,
  linkedin,
  notion,
  snapchat,
  spotify,
  slack,
  twitch,
  twitter,
  workos,
  linkedin_oidc: linkedinOidc,
  slack_oidc: slackOidc,
  x,
  kakao,
  zoom,
  fly,
  vercel_marketplace: vercelMarketplace,
} satisfies Record<string, NamedProviderDefinition>

/** As in requests; variables use upper case. */
export type ProviderName = keyof typeof vendors

export const providerNames = Object.keys(vendors) as ProviderName[]

const definitions = new Map<string, NamedProviderDefinition>(Object.entries(vendors))

/** Display names of the providers. */
export const providerTitles: ReadonlyMap<string, string> = new Map(
  [...definitions].map(([provider, { name }]) => [provider, name]),
)

/** A provider with a file in vendors/. */
export const findVendor = (name: string): NamedProviderDefinition | undefined =>
  definitions.get(name)

/** Returns a provider by name; with an issuer in its settings, any other name is an OpenID provider. */
export function findDefinition(
  name: string,
  settings?: ProviderSettings,
): Pick<ProviderDefinition, 'create' | 'idToken'> | undefined {
  if (settings?.custom?.endpoints) return plainOauth2
  return definitions.get(name) ?? (settings?.issuer ? openidConnect : undefined)
}

/** Returns undefined for an unknown name. Nothing is fetched before the provider is used. */
export function createOauthProvider(
  name: string,
  settings: ProviderSettings,
  upstream: ProviderHttp,
): Provider | undefined {
  return findDefinition(name, settings)?.create(settings, upstream)
}

/** Flow options of a custom provider; empty for any other. */
function customFlow(
  { custom, scopes = [] }: ProviderSettings,
  { isOpenid }: { isOpenid: boolean },
): Partial<OAuth2Flow> {
  if (!custom) return {}
  const required = isOpenid ? ['openid'] : []
  return {
    pkce: custom.pkce,
    params: custom.authorizationParams,
    scopesFor: (requested) => [
      ...new Set([...required, ...(requested.length > 0 ? requested : scopes)]),
    ],
    // The final redirect target of the app is not sent to the provider.
    withheld: ['redirect_to'],
  }
}
