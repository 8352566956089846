/** Email and SMS. */
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config, ConfigVariableName } from '../groups/index.ts'
import type { smsProviderNames } from '../groups/sms.ts'
import { missing } from './missing.ts'

export function mailRule(config: Config): ConfigIssue[] {
  return [
    ...serverIssues(config),
    ...headerIssues(config),
    ...pathIssues(config),
    ...confirmationIssues(config),
  ]
}

function serverIssues(config: Config): ConfigIssue[] {
  const { AUTH_SMTP_HOST, AUTH_SMTP_ADMIN_EMAIL, AUTH_SMTP_USER, AUTH_SMTP_PASS } = config
  const set = { AUTH_SMTP_HOST, AUTH_SMTP_ADMIN_EMAIL, AUTH_SMTP_USER, AUTH_SMTP_PASS }
  const enabledBy = Object.entries(set).flatMap(([name, value]) =>
    value === undefined ? [] : name,
  )
  const mail = { name: 'mail', enabledBy, disabledBy: 'AUTH_SMTP_HOST' }
  const lacks = (needed: readonly ConfigVariableName[], given: string) =>
    missing(config, needed, `${given} is set`, mail)
  const [first] = enabledBy
  if (first === undefined) return []
  return [
    ...lacks(['AUTH_SMTP_HOST', 'AUTH_SMTP_ADMIN_EMAIL'], first),
    ...(AUTH_SMTP_PASS ? lacks(['AUTH_SMTP_USER'], 'AUTH_SMTP_PASS') : []),
    ...(AUTH_SMTP_USER ? lacks(['AUTH_SMTP_PASS'], 'AUTH_SMTP_USER') : []),
  ]
}

/** Headers that the server sets itself. */
const reserved =
  /^(?:from|to|cc|bcc|sender|subject|date|message-id|mime-version|content-.*|received|return-path|dkim-signature)$/i

function headerIssues({ AUTH_SMTP_HEADERS }: Config): ConfigIssue[] {
  const variable = 'AUTH_SMTP_HEADERS'
  const names = Object.keys(AUTH_SMTP_HEADERS).filter((name) => reserved.test(name))
  const hint = 'it may add headers, but not replace those set by the server'
  return names.map((name) => ({ variable, problem: `sets the header ${name}`, hint }))
}

const paths = ['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'] as const
/** Used in place of AUTH_API_EXTERNAL_URL, which may be invalid. */
const anyBase = 'https://auth.example.com'

/** Every email with such a link would fail. */
function pathIssues(config: Config): ConfigIssue[] {
  return paths.flatMap((kind) => {
    const variable = `AUTH_MAILER_URLPATHS_${kind}` as const
    if (URL.canParse(config[variable], anyBase)) return []
    const hint = 'it must be a path such as /verify, or a URL'
    return [{ variable, problem: 'does not result in a valid link', hint }]
  })
}

/** Together they would allow account takeover by claiming the address at a provider. */
function confirmationIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS'
  if (!config[variable] || !config.AUTH_MAILER_AUTOCONFIRM) return []
  const hint = 'it must be false while AUTH_MAILER_AUTOCONFIRM is true'
  return [{ variable, problem: 'is true', hint }]
}

const credentials: Record<(typeof smsProviderNames)[number], readonly ConfigVariableName[]> = {
  twilio: [
    'AUTH_SMS_TWILIO_ACCOUNT_SID',
    'AUTH_SMS_TWILIO_AUTH_TOKEN',
    'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID',
  ],
  twilio_verify: [
    'AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID',
    'AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN',
    'AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID',
  ],
  messagebird: ['AUTH_SMS_MESSAGEBIRD_ACCESS_KEY', 'AUTH_SMS_MESSAGEBIRD_ORIGINATOR'],
  textlocal: ['AUTH_SMS_TEXTLOCAL_API_KEY', 'AUTH_SMS_TEXTLOCAL_SENDER'],
  vonage: ['AUTH_SMS_VONAGE_API_KEY', 'AUTH_SMS_VONAGE_API_SECRET', 'AUTH_SMS_VONAGE_FROM'],
}

/** Whether codes are sent for sign-in or as a second factor. */
function sendsCodes(config: Config): boolean {
  const { AUTH_MFA_PHONE_ENROLL_ENABLED, AUTH_MFA_PHONE_VERIFY_ENABLED } = config
  return (
    config.AUTH_EXTERNAL_PHONE_ENABLED ||
    AUTH_MFA_PHONE_ENROLL_ENABLED ||
    AUTH_MFA_PHONE_VERIFY_ENABLED
  )
}

export function smsRule(config: Config): ConfigIssue[] {
  const provider = config.AUTH_SMS_PROVIDER
  if (!sendsCodes(config) || provider === undefined) return []
  const [variable, name] = ['AUTH_SMS_PROVIDER', 'sending SMS']
  const feature = { name, enabledBy: [variable], disabledBy: variable }
  return missing(config, credentials[provider], `${variable} is ${provider}`, feature)
}
