/** What the operator is told at the start about settings of text messages that are allowed, and rarely meant. */
import { hasCode } from '../../sms/template.ts'
import type { Config } from '../config/config.ts'

export function smsNotices(config: Config, canSend: boolean): string[] {
  const notices: string[] = []
  const testNumbers = Object.keys(config.AUTH_SMS_TEST_OTP).length
  const until = config.AUTH_SMS_TEST_OTP_VALID_UNTIL?.toISOString() ?? 'this setting is removed'
  if (testNumbers > 0) {
    notices.push(
      `AUTH_SMS_TEST_OTP: ${testNumbers} number(s) sign in with a fixed code until ${until}`,
    )
  }
  for (const variable of ['AUTH_SMS_TEMPLATE', 'AUTH_MFA_PHONE_TEMPLATE'] as const) {
    if (hasCode(config[variable])) continue
    notices.push(`${variable} has no {{ .Code }}: messages will not hold the code`)
  }
  if (!canSend && lacksProvider(config)) {
    notices.push(
      'AUTH_EXTERNAL_PHONE_ENABLED: no message can be sent until AUTH_SMS_PROVIDER is set',
    )
  }
  return notices
}

/** Where numbers need no proof, or only those with fixed codes are used, it is no mistake. */
function lacksProvider(config: Config): boolean {
  const { AUTH_SMS_PROVIDER: provider, AUTH_SMS_TEST_OTP: fixed } = config
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED || config.AUTH_SMS_AUTOCONFIRM) return false
  return provider === undefined && Object.keys(fixed).length === 0
}
