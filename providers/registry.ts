/**
 * Every provider with a file in vendors/: the single list of names for requests, variables, documentation and emails. A
 * new one is a file, with an import and an entry here.
 */
import type { NamedProviderDefinition, Provider, ProviderDefinition } from './core/provider.ts'
import type { ProviderHttp, ProviderSettings } from './core/types.ts'
import { openidConnect } from './oidc/openid-connect.ts'
import { plainOauth2 } from './plain-oauth2.ts'
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
import { linkedin } from './vendors/linkedin.ts'
import { linkedinOidc } from './vendors/linkedin-oidc.ts'
import { notion } from './vendors/notion.ts'
import { slack } from './vendors/slack.ts'
import { slackOidc } from './vendors/slack-oidc.ts'
import { snapchat } from './vendors/snapchat.ts'
import { spotify } from './vendors/spotify.ts'
import { twitch } from './vendors/twitch.ts'
import { twitter } from './vendors/twitter.ts'
import { vercelMarketplace } from './vendors/vercel-marketplace.ts'
import { workos } from './vendors/workos.ts'
import { x } from './vendors/x.ts'
import { zoom } from './vendors/zoom.ts'

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
