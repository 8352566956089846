/**
 * Values that GoTrue accepts and that are errors under our names. Under GoTrue's names each is interpreted as in
 * GoTrue, with a warning, so that an environment that works with GoTrue works here. GoTrue's defaults apply to it where
 * this server's differ.
 */
import { emailKindDefinitions } from '../mail/kinds/index.ts'
import { parseDuration } from '../schemas/values/duration.ts'
import { headerName, hostName, parseHeaders, parseJsonHosts } from './core/parse-values.ts'
import { hookNames } from './groups/hooks.ts'
import type { Config, ConfigVariableName } from './groups/index.ts'
import { smsProviderNames } from './groups/sms.ts'
import type { FoundNames } from './names.ts'

interface Reading {
  /** Empty: as if the variable were not set. */
  text: string
  /** The rest of a sentence that begins with the variable's name. */
  says: string
  /** The value it implies for another variable that is not set. */
  also?: readonly [name: ConfigVariableName, text: string]
}

/** Undefined when both programs interpret the text alike. `getText` returns the text of other variables. */
type Read = (text: string, getText: (name: ConfigVariableName) => string) => Reading | undefined

const readings: Partial<Record<ConfigVariableName, Read>> = {
  AUTH_SITE_URL: site,
  AUTH_CORS_ALLOWED_HEADERS: those(headerName, 'has invalid header names'),
  AUTH_JWT_KEYS: noKeys,
  AUTH_JWT_EXP: zeroIs('1h'),
  AUTH_API_MAX_REQUEST_DURATION: zeroIs('1h'),
  AUTH_MAILER_OTP_EXP: zeroIs('24h'),
  AUTH_MAILER_OTP_LENGTH: digits,
  AUTH_MAILER_EMAIL_VALIDATION_BLOCKED_MX: jsonOr(parseJsonHosts),
  AUTH_MAILER_EMAIL_VALIDATION_SERVICE_HEADERS: jsonOr(parseHeaders),
  AUTH_MAILER_EXTERNAL_HOSTS: those(hostName, 'has entries that are no host names'),
  AUTH_SMTP_ADMIN_EMAIL: sender,
  AUTH_SMTP_MAX_FREQUENCY: zeroIs('1m'),
  AUTH_SECURITY_CAPTCHA_ENABLED: captcha,
  AUTH_SMS_PROVIDER: smsProvider,
  AUTH_SMS_OTP_EXP: zeroIs('1m'),
  AUTH_SMS_OTP_LENGTH: digits,
  AUTH_SMS_MAX_FREQUENCY: zeroIs('1m'),
  AUTH_PASSWORD_MIN_LENGTH: withMinimum(6),
  AUTH_MFA_CHALLENGE_EXPIRY_DURATION: withMinimum(300),
  AUTH_MFA_FACTOR_EXPIRY_DURATION: withMinimum(300),
  AUTH_MFA_PHONE_OTP_LENGTH: digits,
  AUTH_MFA_PHONE_MAX_FREQUENCY: zeroIs('1m'),
  AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION: withMinimum(300),
  AUTH_MFA_RECOVERY_CODES_COUNT: ofRecoveryCodes,
  AUTH_MFA_RECOVERY_CODES_CODE_LENGTH: ofRecoveryCodes,
  AUTH_MFA_RECOVERY_CODES_MAX_VERIFY_ATTEMPTS: ofRecoveryCodes,
  AUTH_MFA_RECOVERY_CODES_LOCKOUT_DURATION: ofRecoveryCodes,
  ...Object.fromEntries(hookNames.map((name) => [`AUTH_HOOK_${name}_SECRETS`, hookSecret(name)])),
}

/** Replaces each such value by GoTrue's interpretation. */
export function asGotrueReads(found: FoundNames, warn: (message: string) => void): FoundNames {
  const getText = (name: ConfigVariableName) => found.get(name)?.text ?? ''
  const read = new Map(found)
  for (const [name, asRead] of Object.entries(readings)) {
    const given = found.get(name)
    const reading = given?.foreign ? asRead(given.text, getText) : undefined
    if (!given || !reading) continue
    warn(`${given.name} ${reading.says}.`)
    if (reading.text === '') read.delete(name)
    else read.set(name, { ...given, text: reading.text })
    const [other, text] = reading.also ?? []
    if (other !== undefined && text && !read.has(other)) read.set(other, { ...given, text })
  }
  return read
}

/** The valid entries of a list; GoTrue ignores the others. */
function those(pattern: RegExp, says: string): Read {
  return (text) => {
    const entries = text.split(',').map((entry) => entry.trim())
    const fitting = entries.filter((entry) => pattern.test(entry))
    if (fitting.length === entries.filter((entry) => entry !== '').length) return undefined
    return { text: fitting.join(), says: `${says}, which are ignored` }
  }
}

/** GoTrue ignores a text that is no such JSON. */
function jsonOr(parse: (text: string) => unknown): Read {
  return (text) =>
    parse(text) === undefined ? { text: '', says: 'is not valid JSON and is ignored' } : undefined
}

function seconds(text: string): number | undefined {
  try {
    return parseDuration(text)
  } catch {
    return undefined
  }
}

function zeroIs(preset: string): Read {
  return (text) =>
    seconds(text) === 0 ? { text: preset, says: `is 0, which means ${preset}` } : undefined
}

function withMinimum(minimum: number): Read {
  return (text) => {
    const given = seconds(text)
    if (given === undefined || given >= minimum) return undefined
    return { text: String(minimum), says: `is less than ${minimum}, which is used instead` }
  }
}

/** For the length of a code. */
function digits(text: string): Reading | undefined {
  const count = Number(text)
  if (!Number.isInteger(count) || (count >= 6 && count <= 10)) return undefined
  return { text: '6', says: 'is not within 6 to 10, so 6 is used' }
}

/** GoTrue validates these only when recovery codes are enabled. */
function ofRecoveryCodes(
  _text: string,
  getText: (name: ConfigVariableName) => string,
): Reading | undefined {
  const isOn = (['ENROLL', 'VERIFY'] as const).some((what) =>
    /^(1|t|true)$/i.test(getText(`AUTH_MFA_RECOVERY_CODES_${what}_ENABLED`)),
  )
  return isOn ? undefined : { text: '', says: 'is ignored while recovery codes are off' }
}

/** Self-hosting scripts write an empty list when there is only the secret. */
function noKeys(text: string): Reading | undefined {
  if (!/^\[\s*\]$/.test(text)) return undefined
  return { text: '', says: 'has no keys and is ignored' }
}

/** GoTrue treats such a URL as a relative path, which is no valid target. */
function site(text: string): Reading | undefined {
  if (/^[a-z][a-z0-9+.-]*:\//i.test(text)) return undefined
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text)
  const address = `${isLocal ? 'http' : 'https'}://${text}`
  if (!/^[\w.[\]:-]+(\/|$)/.test(text) || !URL.canParse(address)) return undefined
  return { text: address, says: `has no scheme and is read as ${address}` }
}

/** `Name <address>`. */
function sender(text: string): Reading | undefined {
  const [, name = '', address = ''] = /^\s*"?([^"<>]*?)"?\s*<([^\s<>]+)>\s*$/.exec(text) ?? []
  if (address === '') return undefined
  const says = `has a display name; the address is ${address}`
  return { text: address, says, also: ['AUTH_SMTP_SENDER_NAME', name] }
}

/** GoTrue has a default provider. */
function captcha(text: string, getText: (name: ConfigVariableName) => string): Reading | undefined {
  if (!/^(1|t|true)$/i.test(text) || getText('AUTH_SECURITY_CAPTCHA_PROVIDER')) return undefined
  const says = 'has no provider beside it, which means hcaptcha'
  return { text, says, also: ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'hcaptcha'] }
}

function smsProvider(text: string): Reading | undefined {
  if (smsProviderNames.some((name) => name === text.toLowerCase())) return undefined
  return {
    text: '',
    says: `is none of ${smsProviderNames.join(', ')}: requests that must send an SMS are rejected`,
  }
}

/** GoTrue reads a hook's secrets only when it has a URL; its example file has an invalid one. */
function hookSecret(name: (typeof hookNames)[number]): Read {
  return (_text, getText) => {
    const isUsed = /^https?:/i.test(getText(`AUTH_HOOK_${name}_URI`))
    const isOn = /^(true|1|t|yes|on)$/i.test(getText(`AUTH_HOOK_${name}_ENABLED`))
    return isUsed && isOn ? undefined : { text: '', says: 'is ignored while its hook is off' }
  }
}

const notifications = Object.values(emailKindDefinitions).flatMap((kind) =>
  'event' in kind ? [`AUTH_MAILER_NOTIFICATIONS_${kind.event}_ENABLED` as const] : [],
)

/** On by default here, off in GoTrue. */
const recoveryCodes = [
  'AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED',
  'AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED',
] as const

const reuseIntervalNotice =
  'As in GoTrue, no notifications are sent and a session of any age may add or change a sign-in method; set AUTH_SECURITY_FRESH_PROOF_MAX_AGE (10m) and the AUTH_MAILER_NOTIFICATIONS_ flags when your apps reauthenticate users.'

/**
 * Disables notifications, recovery codes and the recent-authentication requirement, unless the environment sets them.
 */
export function withGotrueDefaults(
  config: Config,
  found: FoundNames,
  warn: (message: string) => void,
): Config {
  const named = withClientAccess(config, found, warn)
  if (found.get('AUTH_JWT_SECRET')?.foreign !== true) return named
  const off = [...notifications, ...recoveryCodes].filter((name) => !found.has(name))
  const isAgeSet = found.has('AUTH_SECURITY_FRESH_PROOF_MAX_AGE')
  if (!isAgeSet) warn(reuseIntervalNotice)
  return {
    ...named,
    ...Object.fromEntries(off.map((name) => [name, false])),
    ...(!isAgeSet && { AUTH_SECURITY_FRESH_PROOF_MAX_AGE: 0 }),
  }
}

const dataAccess = 'AUTH_OAUTH_SERVER_SELF_REGISTERED_CLIENTS_DATA_ACCESS'

/** GoTrue gives the tokens of every client the rights of the user. */
function withClientAccess(
  config: Config,
  found: FoundNames,
  warn: (message: string) => void,
): Config {
  const isGotrue = found.get('AUTH_OAUTH_SERVER_ENABLED')?.foreign === true
  if (!isGotrue || !config.AUTH_OAUTH_SERVER_ENABLED || found.has(dataAccess)) return config
  warn(
    `As in GoTrue, clients that register themselves get tokens with the role and the audience of the user, to which your policies apply; ${dataAccess}=false limits them to identifying the user.`,
  )
  return { ...config, [dataAccess]: true }
}
