import { createPrivateKey } from 'node:crypto'

import { providerNames } from '../../../providers/registry.ts'
import type { Config } from '../config.ts'
import type { Feature, Mistake } from '../mistake.ts'
import {
  genericOidcProviders,
  type ProviderSettings,
  providerSettings,
} from '../provider-settings.ts'
import { callbackUrl } from '../redirect-notices.ts'
import { isEmpty, missing, missingVariable } from './missing.ts'

const appleKeyParts = [
  'AUTH_EXTERNAL_APPLE_TEAM_ID',
  'AUTH_EXTERNAL_APPLE_KEY_ID',
  'AUTH_EXTERNAL_APPLE_PRIVATE_KEY',
] as const

export function providersRule(config: Config): Mistake[] {
  return providerNames.flatMap((name) => {
    const settings = providerSettings(config, name)
    const prefix = `AUTH_EXTERNAL_${name.toUpperCase()}`
    if (!settings.enabled) return []
    if (name === 'apple') return appleMistakes(config, settings)
    const lost = lostValues(prefix, settings, config)
    const realm = name === 'keycloak' && settings.url === undefined
    if (!realm) return lost
    const reason = 'keycloak has no public host'
    return [...lost, missingVariable(`${prefix}_URL`, reason, signInBy(prefix))]
  })
}

export function genericOidcRule(config: Config): Mistake[] {
  const reserved = new Set<string>([...providerNames, 'email', 'phone', 'anonymous_users'])
  return genericOidcProviders(config).flatMap((settings) => {
    const prefix = `AUTH_EXTERNAL_OIDC_${settings.name.toUpperCase()}`
    if (!settings.enabled) return []
    if (!reserved.has(settings.name)) return lostValues(prefix, settings, config)
    const remedy = 'it needs another name, because one provider is called so already'
    return [{ variable: `${prefix}_ISSUER`, problem: 'names a known provider', remedy }]
  })
}

/** Apple's secret is a token that the server can make when it has the key for it. */
function appleMistakes(config: Config, settings: ProviderSettings): Mistake[] {
  const given = appleKeyParts.filter((name) => config[name] !== undefined)
  const parts = given.length === 0 ? [] : missing(config, appleKeyParts, `${given[0]} is set`)
  const secretIsMade = given.length > 0
  const lost = lostValues('AUTH_EXTERNAL_APPLE', settings, config)
  return [
    ...parts,
    ...(settings.secret === undefined ? appleKeyMistakes(config) : []),
    ...lost.filter(({ variable }) => !(secretIsMade && variable === 'AUTH_EXTERNAL_APPLE_SECRET')),
  ]
}

function appleKeyMistakes({ AUTH_EXTERNAL_APPLE_PRIVATE_KEY: pem }: Config): Mistake[] {
  const variable = 'AUTH_EXTERNAL_APPLE_PRIVATE_KEY'
  if (pem === undefined || isOnP256(pem)) return []
  const remedy =
    'it must be the content of the .p8 file from Apple, whose line ends may be written \\n'
  return [{ variable, problem: 'holds no private key on P-256', remedy }]
}

function isOnP256(pem: string): boolean {
  if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) return false
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}

function lostValues(prefix: string, settings: ProviderSettings, config: Config): Mistake[] {
  const needed = {
    CLIENT_ID: settings.clientIds,
    SECRET: settings.idTokenOnly ? 'not needed' : settings.secret,
    REDIRECT_URI: settings.redirectUri,
  }
  return Object.entries(needed)
    .filter(([, value]) => isEmpty(value))
    .map(([field]) => {
      const because = `${prefix}_ENABLED is true`
      // Nobody guesses it, and the provider compares it letter by letter.
      const own = field === 'REDIRECT_URI' ? `; here it is ${callbackUrl(config)}` : ''
      return missingVariable(`${prefix}_${field}`, because + own, signInBy(prefix))
    })
}

function signInBy(prefix: string): Feature {
  const offBy = `${prefix}_ENABLED`
  return { name: `sign-in by ${prefix.replace('AUTH_EXTERNAL_', '')}`, askedBy: [offBy], offBy }
}
