/**
 * Every provider that has a file in vendors/: the one list of their names, for requests, variables,
 * documentation and mails. A new one is its file, and its import and entry here.
 */
import { openidConnect } from './openid-connect.ts'
import type { Provider, ProviderDefinition, ProviderSettings, Vendor } from './provider.ts'
import type { Upstream } from './upstream.ts'
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

/** The order is that of the configuration reference: the specification's eighteen, then ours. */
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
} satisfies Record<string, Vendor>

/** As requests spell it; in upper case, as variables do. */
export type ProviderName = keyof typeof vendors

export const providerNames = Object.keys(vendors) as ProviderName[]

const definitions = new Map<string, Vendor>(Object.entries(vendors))

/** What people call each provider. */
export const providerTitles: ReadonlyMap<string, string> = new Map(
  [...definitions].map(([provider, { name }]) => [provider, name]),
)

/** A provider by name; with an issuer in its settings, any other name is an OpenID provider. */
export function findDefinition(
  name: string,
  settings?: ProviderSettings,
): ProviderDefinition | undefined {
  return definitions.get(name) ?? (settings?.issuer ? openidConnect : undefined)
}

/** Undefined for a name nobody knows. Nothing is fetched before the provider is used. */
export function createProvider(
  name: string,
  settings: ProviderSettings,
  upstream: Upstream,
): Provider | undefined {
  return findDefinition(name, settings)?.create(settings, upstream)
}
