/** Every provider there is. Adding one is a file and a line. */
import { apple } from './apple.ts'
import { azure } from './azure.ts'
import { bitbucket } from './bitbucket.ts'
import { discord } from './discord.ts'
import { facebook } from './facebook.ts'
import { figma } from './figma.ts'
import { fly } from './fly.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'
import { kakao } from './kakao.ts'
import { keycloak } from './keycloak.ts'
import { linkedin } from './linkedin.ts'
import { linkedinOidc } from './linkedin-oidc.ts'
import { notion } from './notion.ts'
import { openidConnect } from './openid-connect.ts'
import type { Provider, ProviderDefinition, ProviderSettings } from './provider.ts'
import { slack } from './slack.ts'
import { slackOidc } from './slack-oidc.ts'
import { snapchat } from './snapchat.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'
import { twitter } from './twitter.ts'
import type { Upstream } from './upstream.ts'
import { vercelMarketplace } from './vercel-marketplace.ts'
import { workos } from './workos.ts'
import { x } from './x.ts'
import { zoom } from './zoom.ts'

const definitions = new Map<string, ProviderDefinition>([
  ['apple', apple],
  ['azure', azure],
  ['bitbucket', bitbucket],
  ['discord', discord],
  ['facebook', facebook],
  ['figma', figma],
  ['fly', fly],
  ['github', github],
  ['gitlab', gitlab],
  ['google', google],
  ['kakao', kakao],
  ['keycloak', keycloak],
  ['linkedin', linkedin],
  ['linkedin_oidc', linkedinOidc],
  ['notion', notion],
  ['slack', slack],
  ['slack_oidc', slackOidc],
  ['snapchat', snapchat],
  ['spotify', spotify],
  ['twitch', twitch],
  ['twitter', twitter],
  ['vercel_marketplace', vercelMarketplace],
  ['workos', workos],
  ['x', x],
  ['zoom', zoom],
])

/** The names in requests; in upper case, the names in variables. */
export const providerNames: readonly string[] = [...definitions.keys()]

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
