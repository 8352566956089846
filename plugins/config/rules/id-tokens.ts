import type { Config } from '../config.ts'
import { external } from '../groups/external-providers.ts'
import type { Mistake } from '../mistake.ts'
import { allowedAudiences, genericOidcProviders, providerSettings } from '../provider-settings.ts'

const variable = 'AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'
const listName = 'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS'

/** Under GoTrue's name for the list no audience was needed, and none can be guessed. */
const feature = {
  name: 'signing in with ID tokens of issuers that are no provider',
  askedBy: [listName],
  offBy: listName,
}

/** Without an audience a token that the issuer made for any other app would open a session here. */
export function idTokenRule(config: Config): Mistake[] {
  const issuers = config[listName]
  const known = issuersOfProviders(config)
  const lost = issuers.filter(
    (issuer) => !known.has(issuer) && allowedAudiences(config, issuer).length === 0,
  )
  const stray = Object.keys(config[variable]).filter((issuer) => !issuers.includes(issuer))
  return [
    ...lost.map((issuer) => ({
      variable,
      problem: `names no audience for ${issuer}`,
      remedy: `it must say for which client ids the tokens are made, as in ${issuer}=app-one|app-two, because ${listName} lists that issuer`,
      feature,
    })),
    ...stray.map((issuer) => ({
      variable,
      problem: `names ${issuer}`,
      remedy: `it may name only issuers that ${listName} lists`,
    })),
  ]
}

/** Their tokens are held against the client ids of the provider. */
function issuersOfProviders(config: Config): Set<string> {
  const keycloak = providerSettings(config, 'keycloak')
  const generic = genericOidcProviders(config).filter(({ enabled }) => enabled)
  return new Set([
    ...external[listName].default,
    ...(keycloak.enabled && keycloak.url !== undefined ? [keycloak.url] : []),
    ...generic.map(({ issuer }) => issuer),
  ])
}
