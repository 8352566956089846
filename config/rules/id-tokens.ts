import type { ConfigIssue } from '../core/config-error.ts'
import { external } from '../groups/external-providers.ts'
import type { Config } from '../groups/index.ts'
import {
  allowedAudiences,
  genericOidcProviders,
  providerSettings,
} from '../groups/provider-settings.ts'

const variable = 'AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'
const listName = 'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS'

/** GoTrue's variable needs no audience, and none can be derived. */
const feature = {
  name: 'sign-in with ID tokens of issuers that are no provider',
  enabledBy: [listName],
  disabledBy: listName,
}

/** Without an audience check, a token issued for another app would create a session here. */
export function idTokenRule(config: Config): ConfigIssue[] {
  const issuers = config[listName]
  const known = issuersOfProviders(config)
  const lost = issuers.filter(
    (issuer) => !known.has(issuer) && allowedAudiences(config, issuer).length === 0,
  )
  const unlisted = Object.keys(config[variable]).filter((issuer) => !issuers.includes(issuer))
  return [
    ...lost.map((issuer) => ({
      variable,
      problem: `has no audience for ${issuer}`,
      hint: `it must list the accepted client ids, as in ${issuer}=app-one|app-two, because ${listName} includes that issuer`,
      feature,
    })),
    ...unlisted.map((issuer) => ({
      variable,
      problem: `names ${issuer}`,
      hint: `it may only contain issuers of ${listName}`,
    })),
  ]
}

/** Their tokens are checked against the provider's client ids. */
function issuersOfProviders(config: Config): Set<string> {
  const keycloak = providerSettings(config, 'keycloak')
  const generic = genericOidcProviders(config).filter(({ enabled }) => enabled)
  return new Set([
    ...external[listName].default,
    ...(keycloak.enabled && keycloak.url !== undefined ? [keycloak.url] : []),
    ...generic.map(({ issuer }) => issuer),
  ])
}
