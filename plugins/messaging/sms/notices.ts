/** Warnings at start about SMS settings that are valid but rarely intended. */
import type { Config } from '../../../config/groups/index.ts'
import { hasCode } from '../../../sms/template.ts'

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
    notices.push(`${variable} has no {{ .Code }}: messages will not contain the code`)
  }
  if (!canSend && lacksProvider(config)) {
    notices.push(
      'AUTH_EXTERNAL_PHONE_ENABLED: no message can be sent until AUTH_SMS_PROVIDER is set',
    )
  }
  return notices
}

/** Without phone confirmation, or with fixed codes only, no provider is needed. */
function lacksProvider(config: Config): boolean {
  const { AUTH_SMS_PROVIDER: provider, AUTH_SMS_TEST_OTP: fixed } = config
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED || config.AUTH_SMS_AUTOCONFIRM) return false
  return provider === undefined && Object.keys(fixed).length === 0
}
