/**
 * Values that GoTrue starts with, and that are mistakes under our own names. Under its names each is read as what GoTrue
 * makes of it, with a warning, so that an environment that serves there serves here.
 */
import { parseDuration } from '../../schemas/duration.ts'
import type { VariableName } from './config.ts'
import { hookNames } from './groups/hooks.ts'
import { smsProviderNames } from './groups/sms.ts'
import { headerName, hostName } from './parse-values.ts'
import type { FoundNames } from './read-config.ts'

interface Reading {
  /** Empty: as if the variable were not set. */
  text: string
  /** The rest of a sentence that begins with the name of the variable. */
  says: string
  /** What it says of another variable, where that is not set. */
  also?: readonly [name: VariableName, text: string]
}

/** Undefined where the text means the same in both programs. `textOf` gives what other variables say. */
type Read = (text: string, textOf: (name: VariableName) => string) => Reading | undefined

const readings: Partial<Record<VariableName, Read>> = {
  AUTH_SITE_URL: site,
  AUTH_CORS_ALLOWED_HEADERS: those(headerName, 'has names that no header can have'),
  AUTH_JWT_KEYS: noKeys,
  AUTH_JWT_EXP: zeroIs('1h'),
  AUTH_API_MAX_REQUEST_DURATION: zeroIs('1h'),
  AUTH_MAILER_OTP_EXP: zeroIs('24h'),
  AUTH_MAILER_OTP_LENGTH: digits,
  AUTH_MAILER_EXTERNAL_HOSTS: those(hostName, 'has entries that are no names of hosts'),
  AUTH_SMTP_ADMIN_EMAIL: sender,
  AUTH_SMTP_MAX_FREQUENCY: zeroIs('1m'),
  AUTH_SMS_PROVIDER: smsProvider,
  AUTH_SMS_OTP_EXP: zeroIs('1m'),
  AUTH_SMS_OTP_LENGTH: digits,
  AUTH_SMS_MAX_FREQUENCY: zeroIs('1m'),
  AUTH_PASSWORD_MIN_LENGTH: atLeast(6),
  AUTH_MFA_CHALLENGE_EXPIRY_DURATION: atLeast(300),
  AUTH_MFA_FACTOR_EXPIRY_DURATION: atLeast(300),
  AUTH_MFA_PHONE_OTP_LENGTH: digits,
  AUTH_MFA_PHONE_MAX_FREQUENCY: zeroIs('1m'),
  AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION: atLeast(300),
  ...Object.fromEntries(hookNames.map((name) => [`AUTH_HOOK_${name}_SECRETS`, hookSecret(name)])),
}

/** What was found, with each such value as GoTrue reads it. */
export function asGotrueReads(found: FoundNames, warn: (message: string) => void): FoundNames {
  const textOf = (name: VariableName) => found.get(name)?.text ?? ''
  const read = new Map(found)
  for (const [name, asRead] of Object.entries(readings)) {
    const given = found.get(name)
    const reading = given?.foreign ? asRead(given.text, textOf) : undefined
    if (!given || !reading) continue
    warn(`${given.name} ${reading.says}.`)
    if (reading.text === '') read.delete(name)
    else read.set(name, { ...given, text: reading.text })
    const [other, text] = reading.also ?? []
    if (other !== undefined && text && !read.has(other)) read.set(other, { ...given, text })
  }
  return read
}

/** The entries of a list that fit; the others mean nothing to GoTrue. */
function those(pattern: RegExp, says: string): Read {
  return (text) => {
    const entries = text.split(',').map((entry) => entry.trim())
    const fitting = entries.filter((entry) => pattern.test(entry))
    if (fitting.length === entries.filter((entry) => entry !== '').length) return undefined
    return { text: fitting.join(), says: `${says}, and they are left out` }
  }
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
    seconds(text) === 0 ? { text: preset, says: `is 0, which stands for ${preset}` } : undefined
}

function atLeast(least: number): Read {
  return (text) => {
    const given = seconds(text)
    if (given === undefined || given >= least) return undefined
    return { text: String(least), says: `is less than ${least}, and raised to that` }
  }
}

/** Of a code. */
function digits(text: string): Reading | undefined {
  const count = Number(text)
  if (!Number.isInteger(count) || (count >= 6 && count <= 10)) return undefined
  return { text: '6', says: 'is none of 6 to 10, and read as 6' }
}

/** The self-hosting scripts write an empty list where there are no keys but the secret. */
function noKeys(text: string): Reading | undefined {
  if (!/^\[\s*\]$/.test(text)) return undefined
  return { text: '', says: 'has no keys, so that tokens are signed as without it' }
}

/** GoTrue sends browsers to such an address as if it were a path, which leads nowhere. */
function site(text: string): Reading | undefined {
  if (/^[a-z][a-z0-9+.-]*:\//i.test(text)) return undefined
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text)
  const address = `${isLocal ? 'http' : 'https'}://${text}`
  if (!/^[\w.[\]:-]+(\/|$)/.test(text) || !URL.canParse(address)) return undefined
  return { text: address, says: `has no scheme, and is read as ${address}` }
}

/** `Name <address>`. */
function sender(text: string): Reading | undefined {
  const [, name = '', address = ''] = /^\s*"?([^"<>]*?)"?\s*<([^\s<>]+)>\s*$/.exec(text) ?? []
  if (address === '') return undefined
  const says = `has a name, and its address is ${address}`
  return { text: address, says, also: ['AUTH_SMTP_SENDER_NAME', name] }
}

function smsProvider(text: string): Reading | undefined {
  if (smsProviderNames.some((name) => name === text.toLowerCase())) return undefined
  return {
    text: '',
    says: `names none of ${smsProviderNames.join(', ')}: whatever must send a text message is refused`,
  }
}

/** GoTrue looks at the secrets of a hook only when it has an address for it; its example file has one that is none. */
function hookSecret(name: (typeof hookNames)[number]): Read {
  return (_text, textOf) => {
    const isUsed = /^https?:/i.test(textOf(`AUTH_HOOK_${name}_URI`))
    const isOn = /^(true|1|t|yes|on)$/i.test(textOf(`AUTH_HOOK_${name}_ENABLED`))
    return isUsed && isOn ? undefined : { text: '', says: 'is not read while its hook is off' }
  }
}
