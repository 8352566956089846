/** Creates the provider named by AUTH_SMS_PROVIDER. */
import type { Config } from '../../../config/groups/index.ts'
import type { PostForm } from '../../../sms/form-client.ts'
import { messagebird } from '../../../sms/messagebird.ts'
import type { SmsProvider } from '../../../sms/provider.ts'
import { redacting } from '../../../sms/redacting.ts'
import { textlocal } from '../../../sms/textlocal.ts'
import { twilio } from '../../../sms/twilio.ts'
import { twilioVerify } from '../../../sms/twilio-verify.ts'
import { vonage } from '../../../sms/vonage.ts'

type SmsKey = Extract<keyof Config, `AUTH_SMS_${string}`>
export type SmsConfig = Pick<Config, SmsKey | 'AUTH_MFA_PHONE_TEMPLATE' | 'given'>

/** Undefined when no provider is named. Throws an error that names the variable when a credential is missing. */
export function chooseProvider(config: SmsConfig, post: PostForm): SmsProvider | undefined {
  const name = config.AUTH_SMS_PROVIDER
  return name === undefined ? undefined : redacting(builders[name](config, post))
}

type Builder = (config: SmsConfig, post: PostForm) => SmsProvider

const builders: Record<NonNullable<SmsConfig['AUTH_SMS_PROVIDER']>, Builder> = {
  twilio: (config, post) =>
    twilio(
      {
        url: config.AUTH_SMS_TWILIO_URL,
        accountSid: required(config, 'AUTH_SMS_TWILIO_ACCOUNT_SID'),
        authToken: required(config, 'AUTH_SMS_TWILIO_AUTH_TOKEN'),
        sender: required(config, 'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID'),
        contentSid: config.AUTH_SMS_TWILIO_CONTENT_SID,
      },
      post,
    ),
  twilio_verify: (config, post) =>
    twilioVerify(
      {
        url: config.AUTH_SMS_TWILIO_VERIFY_URL,
        accountSid: required(config, 'AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID'),
        authToken: required(config, 'AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN'),
        sender: required(config, 'AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID'),
      },
      post,
    ),
  messagebird: (config, post) =>
    messagebird(
      {
        url: config.AUTH_SMS_MESSAGEBIRD_URL,
        accessKey: required(config, 'AUTH_SMS_MESSAGEBIRD_ACCESS_KEY'),
        originator: required(config, 'AUTH_SMS_MESSAGEBIRD_ORIGINATOR'),
      },
      post,
    ),
  textlocal: (config, post) =>
    textlocal(
      {
        url: config.AUTH_SMS_TEXTLOCAL_URL,
        apiKey: required(config, 'AUTH_SMS_TEXTLOCAL_API_KEY'),
        sender: required(config, 'AUTH_SMS_TEXTLOCAL_SENDER'),
      },
      post,
    ),
  vonage: (config, post) =>
    vonage(
      {
        url: config.AUTH_SMS_VONAGE_URL,
        apiKey: required(config, 'AUTH_SMS_VONAGE_API_KEY'),
        apiSecret: required(config, 'AUTH_SMS_VONAGE_API_SECRET'),
        from: required(config, 'AUTH_SMS_VONAGE_FROM'),
      },
      post,
    ),
}

type TextKey = { [K in SmsKey]: SmsConfig[K] extends string | undefined ? K : never }[SmsKey]

function required(config: SmsConfig, key: TextKey): string {
  const value = config[key]
  if (!value) throw new Error(`AUTH_SMS_PROVIDER=${config.AUTH_SMS_PROVIDER} needs ${key}`)
  return value
}
