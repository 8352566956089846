/** Warns of settings that are valid individually but conflict with each other. */
import { formatDuration } from '../schemas/values/duration.ts'
import { mailLocalesWithoutEffect } from './groups/email.ts'
import type { Config } from './groups/index.ts'

/** One sentence per conflict. */
export function crossFieldIssues(config: Config): string[] {
  const notices: string[] = []
  const { AUTH_SESSIONS_INACTIVITY_TIMEOUT: inactivityTimeout } = config
  if (inactivityTimeout !== undefined && inactivityTimeout <= config.AUTH_JWT_EXP) {
    notices.push(
      `AUTH_SESSIONS_INACTIVITY_TIMEOUT is not above AUTH_JWT_EXP: clients refresh shortly before a token expires, so active sessions end ${formatDuration(inactivityTimeout)} after each refresh.`,
    )
  }
  if (config.AUTH_MFA_REQUIRED_ROLES.length > 0 && !canAddFactor(config)) {
    notices.push(
      'AUTH_MFA_REQUIRED_ROLES is set, but no type of second factor can be enrolled and verified (AUTH_MFA_..._ENROLL_ENABLED, AUTH_MFA_..._VERIFY_ENABLED): users with these roles cannot do anything.',
    )
  }
  notices.push(...lifetimeNotices(config), ...passkeyNotices(config))
  notices.push(...factorNotices(config), ...registrationNotices(config))
  const unused = mailLocalesWithoutEffect(config)
  if (unused.length > 0) {
    notices.push(
      `AUTH_LANGUAGES_ENABLED is false: ${unused.join(', ')} has no effect, as every message is in AUTH_DEFAULT_LOCALE (${config.AUTH_DEFAULT_LOCALE}).`,
    )
  }
  return notices
}

const week = 7 * 24 * 3600

/** A number in milliseconds, as other programs expect it, is a thousand times too long. */
function lifetimeNotices({ AUTH_JWT_EXP: lifetime }: Config): string[] {
  if (lifetime <= week) return []
  return [
    `AUTH_JWT_EXP is ${formatDuration(lifetime)}: a number without a unit means seconds, and a stolen access token is valid until it expires. Set a short lifetime such as 1h; sessions last longer than their tokens.`,
  ]
}

/** Browsers permit the domain of the page and its parents. */
function passkeyNotices(config: Config): string[] {
  const { AUTH_WEBAUTHN_RP_ID: id, AUTH_WEBAUTHN_RP_ORIGINS: origins } = config
  if (id === undefined) return []
  const isOther = (host: string) => host !== id && !host.endsWith(`.${id}`)
  return origins
    .filter((origin) => /^https?:/i.test(origin) && isOther(new URL(origin).hostname))
    .map(
      (origin) =>
        `AUTH_WEBAUTHN_RP_ORIGINS has ${origin}, which is neither AUTH_WEBAUTHN_RP_ID (${id}) nor a subdomain of it: browsers reject passkeys there, unless https://${id}/.well-known/webauthn lists it.`,
    )
}

const factorTypes = ['TOTP', 'PHONE', 'WEB_AUTHN'] as const

function factorNotices(config: Config): string[] {
  return factorTypes.flatMap((type) => {
    const [enroll, verify] = [
      `AUTH_MFA_${type}_ENROLL_ENABLED`,
      `AUTH_MFA_${type}_VERIFY_ENABLED`,
    ] as const
    if (!config[enroll] || config[verify]) return []
    return [`${enroll} is true and ${verify} is not: users can add such a factor and never use it.`]
  })
}

function registrationNotices(config: Config): string[] {
  const variable = 'AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION'
  if (!config[variable] || config.AUTH_OAUTH_SERVER_ENABLED) return []
  return [`${variable} has no effect while AUTH_OAUTH_SERVER_ENABLED is false.`]
}

function canAddFactor(config: Config): boolean {
  return factorTypes.some(
    (kind) =>
      config[`AUTH_MFA_${kind}_ENROLL_ENABLED`] && config[`AUTH_MFA_${kind}_VERIFY_ENABLED`],
  )
}
