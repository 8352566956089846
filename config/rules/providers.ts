/** External sign-in: providers, ID tokens, and SAML. */
import { createPrivateKey } from 'node:crypto'

import { providerNames } from '../../providers/registry.ts'
import type { ConfigIssue, DisabledFeature } from '../core/config-error.ts'
import { external } from '../groups/external-providers.ts'
import type { Config } from '../groups/index.ts'
import {
  allowedAudiences,
  genericOidcProviders,
  type ProviderVariables,
  providerSettings,
} from '../groups/provider-settings.ts'
import { isEmpty, missing, missingVariable } from './missing.ts'
import { callbackUrl } from './redirect-notices.ts'

const appleKeyParts = [
  'AUTH_EXTERNAL_APPLE_TEAM_ID',
  'AUTH_EXTERNAL_APPLE_KEY_ID',
  'AUTH_EXTERNAL_APPLE_PRIVATE_KEY',
] as const

export function providersRule(config: Config): ConfigIssue[] {
  return providerNames.flatMap((name) => {
    const settings = providerSettings(config, name)
    const prefix = `AUTH_EXTERNAL_${name.toUpperCase()}`
    if (!settings.enabled) return []
    if (name === 'apple') return appleIssues(config, settings)
    const lost = lostValues(prefix, settings, config)
    const realm = name === 'keycloak' && settings.url === undefined
    if (!realm) return lost
    const reason = 'keycloak has no public installation'
    return [...lost, missingVariable(`${prefix}_URL`, reason, signInBy(prefix))]
  })
}

export function genericOidcRule(config: Config): ConfigIssue[] {
  const reserved = new Set<string>([...providerNames, 'email', 'phone', 'anonymous_users'])
  return genericOidcProviders(config).flatMap((settings) => {
    const prefix = `AUTH_EXTERNAL_OIDC_${settings.name.toUpperCase()}`
    if (!settings.enabled) return []
    if (!reserved.has(settings.name)) {
      return [...lostValues(prefix, settings, config), ...shortSecret(prefix, settings)]
    }
    const hint = 'it needs another name, because a built-in provider has this one'
    return [{ variable: `${prefix}_ISSUER`, problem: 'is the name of a built-in provider', hint }]
  })
}

/** RFC 7518 §3.2: a key of HS256 has at least as many bits as the hash. */
function shortSecret(
  prefix: string,
  { acceptsHs256, secret }: { acceptsHs256: boolean; secret: string | undefined },
): ConfigIssue[] {
  if (!acceptsHs256 || secret === undefined || Buffer.byteLength(secret) >= 32) return []
  const problem = 'is shorter than 32 bytes'
  const hint = `${prefix}_ID_TOKEN_SIGNED_RESPONSE_ALG=HS256 needs a longer one (RFC 7518 §3.2)`
  return [{ variable: `${prefix}_SECRET`, problem, hint }]
}

/** Apple's secret is a token that the server creates from the private key. */
function appleIssues(config: Config, settings: ProviderVariables): ConfigIssue[] {
  const given = appleKeyParts.filter((name) => config[name] !== undefined)
  const parts = given.length === 0 ? [] : missing(config, appleKeyParts, `${given[0]} is set`)
  const secretIsMade = given.length > 0
  const lost = lostValues('AUTH_EXTERNAL_APPLE', settings, config)
  return [
    ...parts,
    ...(settings.secret === undefined ? appleKeyIssues(config) : []),
    ...lost.filter(({ variable }) => !(secretIsMade && variable === 'AUTH_EXTERNAL_APPLE_SECRET')),
  ]
}

function appleKeyIssues({ AUTH_EXTERNAL_APPLE_PRIVATE_KEY: pem }: Config): ConfigIssue[] {
  const variable = 'AUTH_EXTERNAL_APPLE_PRIVATE_KEY'
  if (pem === undefined || isOnP256(pem)) return []
  const hint = 'it must be the content of Apple’s .p8 file; \\n may stand for line breaks'
  return [{ variable, problem: 'contains no P-256 private key', hint }]
}

function isOnP256(pem: string): boolean {
  if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) return false
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}

function lostValues(prefix: string, settings: ProviderVariables, config: Config): ConfigIssue[] {
  const needed = {
    CLIENT_ID: settings.clientIds,
    SECRET: settings.idTokenOnly ? 'not needed' : settings.secret,
    REDIRECT_URI: settings.redirectUri,
  }
  return Object.entries(needed)
    .filter(([, value]) => isEmpty(value))
    .map(([field]) => {
      const because = `${prefix}_ENABLED is true`
      // It cannot be derived, and the provider compares it exactly.
      const own = field === 'REDIRECT_URI' ? `; for this server it is ${callbackUrl(config)}` : ''
      return missingVariable(`${prefix}_${field}`, because + own, signInBy(prefix))
    })
}

function signInBy(prefix: string): DisabledFeature {
  const disabledBy = `${prefix}_ENABLED`
  return {
    name: `sign-in by ${prefix.replace('AUTH_EXTERNAL_', '')}`,
    enabledBy: [disabledBy],
    disabledBy,
  }
}

const issuersName = 'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS'

/** GoTrue's variable needs no audience, and none can be derived. */
const issuersFeature = {
  name: 'sign-in with ID tokens of issuers that are no provider',
  enabledBy: [issuersName],
  disabledBy: issuersName,
}

/** Without an audience check, a token issued for another app would create a session here. */
export function idTokenRule(config: Config): ConfigIssue[] {
  const variable = 'AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'
  const issuers = config[issuersName]
  const known = issuersOfProviders(config)
  const lost = issuers.filter(
    (issuer) => !known.has(issuer) && allowedAudiences(config, issuer).length === 0,
  )
  const unlisted = Object.keys(config[variable]).filter((issuer) => !issuers.includes(issuer))
  return [
    ...lost.map((issuer) => ({
      variable,
      problem: `has no audience for ${issuer}`,
      hint: `it must list the accepted client ids, as in ${issuer}=app-one|app-two, because ${issuersName} includes that issuer`,
      feature: issuersFeature,
    })),
    ...unlisted.map((issuer) => ({
      variable,
      problem: `names ${issuer}`,
      hint: `it may only contain issuers of ${issuersName}`,
    })),
  ]
}

/** Their tokens are checked against the provider's client ids. */
function issuersOfProviders(config: Config): Set<string> {
  const keycloak = providerSettings(config, 'keycloak')
  const generic = genericOidcProviders(config).filter(({ enabled }) => enabled)
  return new Set([
    ...external[issuersName].default,
    ...(keycloak.enabled && keycloak.url !== undefined ? [keycloak.url] : []),
    ...generic.map(({ issuer }) => issuer),
  ])
}

export function ssoRule(config: Config): ConfigIssue[] {
  return [...linkingIssues(config), ...(config.AUTH_SAML_ENABLED ? samlIssues(config) : [])]
}

const samlIssues = (config: Config): ConfigIssue[] => [
  ...missing(config, ['AUTH_SAML_PRIVATE_KEY'], 'AUTH_SAML_ENABLED is true'),
  ...samlKeys.flatMap((variable) => samlKeyIssues(variable, config[variable])),
]

const samlKeys = ['AUTH_SAML_PRIVATE_KEY', 'AUTH_SAML_PRIVATE_KEY_NEXT'] as const
const standardExponent = 65_537n

/** The tenant of a SAML provider asserts any address, so that its users must not be matched with those of others. */
function linkingIssues({
  AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: domains,
  AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: own,
}: Config): ConfigIssue[] {
  const all = Object.entries(domains)
  const isOther = (domain: string) =>
    domain === 'default' || domain.startsWith('sso:') || own.includes(domain)
  const isShared = (domain: string) => all.filter(([, each]) => each === domain).length > 1
  return all
    .filter(([provider, domain]) => provider.startsWith('sso:') && domain !== provider)
    .filter(([, domain]) => isOther(domain) || isShared(domain))
    .map(([provider, domain]) => ({
      variable: 'AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS',
      problem: `puts ${provider} into the linking domain ${domain}`,
      hint: 'a SAML provider has a linking domain of its own, because its operator could sign in as every user of a shared one; leave it out',
    }))
}

function samlKeyIssues(variable: string, base64: string | undefined): ConfigIssue[] {
  if (base64 === undefined || isUsableSamlKey(base64)) return []
  const hint =
    'it must be an RSA key of at least 2048 bits as base64 of PKCS#1 DER: openssl genrsa 2048 | openssl rsa -traditional -outform der | base64 -w0'
  return [{ variable, problem: 'contains no usable RSA key', hint }]
}

function isUsableSamlKey(base64: string): boolean {
  try {
    const der = Buffer.from(base64, 'base64')
    const { asymmetricKeyDetails } = createPrivateKey({ key: der, format: 'der', type: 'pkcs1' })
    const { modulusLength = 0, publicExponent } = asymmetricKeyDetails ?? {}
    return modulusLength >= 2048 && publicExponent === standardExponent
  } catch {
    return false
  }
}
