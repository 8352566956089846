import { createPrivateKey } from 'node:crypto'

import { providerNames } from '../../providers/registry.ts'
import type { ConfigIssue, DisabledFeature } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import {
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
