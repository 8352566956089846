/** Checks the format of SMS provider credentials. No SMS is sent. */
import type { Config, ConfigVariableName } from '../../config/groups/index.ts'
import { type DoctorContext, type DoctorFinding, fail, pass, warn } from './finding.ts'

type Form = [variable: ConfigVariableName, form: RegExp, what: string]
type Provider = NonNullable<Config['AUTH_SMS_PROVIDER']>

/** E.164, or up to eleven letters and digits. */
const sender = /^(\+?[1-9]\d{6,14}|[\w &.+-]{1,11})$/

const forms: Record<Provider, Form[]> = {
  twilio: [
    ['AUTH_SMS_TWILIO_ACCOUNT_SID', /^AC[0-9a-f]{32}$/, 'AC and 32 hex digits'],
    ['AUTH_SMS_TWILIO_AUTH_TOKEN', /^[0-9a-f]{32}$/, '32 hex digits'],
    [
      'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID',
      /^(MG[0-9a-f]{32}|(whatsapp:)?\+[1-9]\d{6,14}|[\w ]{1,11})$/,
      'MG and 32 hex digits, or a sender',
    ],
  ],
  twilio_verify: [
    ['AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID', /^AC[0-9a-f]{32}$/, 'AC and 32 hex digits'],
    ['AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN', /^[0-9a-f]{32}$/, '32 hex digits'],
    [
      'AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID',
      /^VA[0-9a-f]{32}$/,
      'VA and 32 hex digits, the SID of a Verify service',
    ],
  ],
  messagebird: [
    [
      'AUTH_SMS_MESSAGEBIRD_ACCESS_KEY',
      /^(live_)?[A-Za-z0-9]{25}$/,
      '25 letters and digits of a live key',
    ],
    ['AUTH_SMS_MESSAGEBIRD_ORIGINATOR', sender, 'a number, or at most eleven letters and digits'],
  ],
  textlocal: [
    ['AUTH_SMS_TEXTLOCAL_API_KEY', /^\S{20,}$/, 'at least 20 characters'],
    ['AUTH_SMS_TEXTLOCAL_SENDER', sender, 'a number, or at most eleven letters and digits'],
  ],
  vonage: [
    ['AUTH_SMS_VONAGE_API_KEY', /^[0-9a-f]{8}$/, 'eight hex digits'],
    ['AUTH_SMS_VONAGE_API_SECRET', /^\S{8,25}$/, '8 to 25 characters'],
    ['AUTH_SMS_VONAGE_FROM', sender, 'a number, or at most eleven letters and digits'],
  ],
}

export function checkSms({ config }: Pick<DoctorContext, 'config'>): DoctorFinding[] {
  const { AUTH_SMS_PROVIDER: provider, AUTH_EXTERNAL_PHONE_ENABLED: isOn } = config
  if (!isOn) return []
  if (config.AUTH_HOOK_SEND_SMS_ENABLED) return [pass('The send SMS hook sends all SMS.')]
  if (!provider && config.dev) return [pass('In development SMS are only in the inbox.')]
  if (!provider) {
    return [fail('Phone sign-in is enabled without an SMS provider: set AUTH_SMS_PROVIDER.')]
  }
  const invalid = forms[provider].filter(([variable, form]) => !form.test(String(config[variable])))
  if (invalid.length === 0) {
    return [pass(`The credentials of ${provider} have the expected format.`)]
  }
  return invalid.map(([variable, , what]) =>
    warn(`${variable} does not look like a credential of ${provider}: expected ${what}.`),
  )
}
