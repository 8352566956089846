/** Servers that differ in one feature, to measure what each costs at rest. */
import { everyFeature } from '../../config/every-feature.ts'

/** By name: the switches that are on, while the others of `everyFeature` are off. */
const features: Record<string, readonly string[]> = {
  'every feature off': [],
  phones: ['AUTH_EXTERNAL_PHONE_ENABLED'],
  passkeys: ['AUTH_PASSKEY_ENABLED'],
  'security keys': ['AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED', 'AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED'],
  wallets: ['AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED', 'AUTH_EXTERNAL_WEB3_SOLANA_ENABLED'],
  SAML: ['AUTH_SAML_ENABLED'],
  SCIM: ['AUTH_EXPERIMENTAL_SCIM_ENABLED'],
  organizations: ['AUTH_ORGANIZATIONS_ENABLED'],
  'OAuth server': ['AUTH_OAUTH_SERVER_ENABLED'],
  'account page': ['AUTH_ACCOUNT_PAGE_ENABLED'],
  console: ['AUTH_CONSOLE_ENABLED'],
  events: ['AUTH_EVENTS_ENABLED'],
  usernames: ['AUTH_USERNAMES_ENABLED'],
}

/** On by default: what a server has without further settings. */
const defaults = /^AUTH_(SECURITY_REFRESH|LANGUAGES|DB_CLEANUP|MFA_TOTP|MFA_RECOVERY|CUSTOM_OAUTH)/

/** All servers together stay below the connection limit of Postgres. */
const shared = { AUTH_DB_MAX_POOL_SIZE: '2' }

/** The variables of each server, by its name. */
export function featureSettings(): Map<string, Record<string, string>> {
  const all = everyFeature()
  const settings = new Map(
    Object.entries(features).map(([name, on]) => [name, { ...withOnly(all, on), ...shared }]),
  )
  return settings.set('every feature on', { ...all, ...shared })
}

function withOnly(all: Record<string, string>, on: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => {
      const isOptional = name.endsWith('_ENABLED') && !defaults.test(name)
      return [name, isOptional && !on.includes(name) ? 'false' : value]
    }),
  )
}
