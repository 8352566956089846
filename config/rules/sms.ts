import type { ConfigIssue } from '../core/config-error.ts'
import type { Config, ConfigVariableName } from '../groups/index.ts'
import type { smsProviderNames } from '../groups/sms.ts'
import { missing } from './missing.ts'

const needed: Record<(typeof smsProviderNames)[number], readonly ConfigVariableName[]> = {
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
  return missing(config, needed[provider], `${variable} is ${provider}`, feature)
}
