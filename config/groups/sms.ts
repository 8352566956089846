import { Type } from '@sinclair/typebox'

import {
  booleanField,
  duration,
  enumField,
  group,
  integerField,
  secret,
  textField,
  url,
} from '../core/fields.ts'
import { dateField, map } from '../core/values.ts'

const { Optional } = Type

export const smsProviderNames = [
  'twilio',
  'twilio_verify',
  'messagebird',
  'textlocal',
  'vonage',
] as const

const baseUrl = (preset: string) =>
  url('Base address of the provider’s API, for tests and proxies.', { default: preset })

export const sms = group('SMS', {
  AUTH_SMS_PROVIDER: Optional(enumField('SMS provider.', smsProviderNames)),
  AUTH_SMS_AUTOCONFIRM: booleanField('Treats phone numbers as confirmed without an SMS.', false),
  AUTH_SMS_MAX_FREQUENCY: duration(
    'Minimum time between two SMS to one user. A resend delays further resends only.',
    {
      default: '60s',
    },
  ),
  AUTH_SMS_OTP_EXP: duration('Lifetime of a code sent by SMS.', {
    default: '60s',
    exclusiveMinimum: 0,
  }),
  AUTH_SMS_OTP_LENGTH: integerField('Number of digits of a code sent by SMS.', {
    default: 6,
    minimum: 6,
    maximum: 10,
  }),
  AUTH_SMS_TEMPLATE: textField('Text of the message. `{{ .Code }}` is replaced by the code.', {
    default: 'Your code is {{ .Code }}',
  }),
  AUTH_SMS_TEST_OTP: map(
    'Test numbers that receive no SMS and sign in with a fixed code, as `phone:code,phone:code`.',
    { default: {}, 'x-type': 'test-codes', 'x-secret': true },
  ),
  AUTH_SMS_TEST_OTP_VALID_UNTIL: Optional(
    dateField('Time (RFC 3339) after which the test numbers stop working.', {
      'x-default-text': 'no end',
      'x-example': '2030-01-01T00:00:00Z',
    }),
  ),
  AUTH_SMS_TWILIO_ACCOUNT_SID: Optional(textField('twilio: account SID.')),
  AUTH_SMS_TWILIO_AUTH_TOKEN: Optional(secret('twilio: authentication token.')),
  AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: Optional(
    textField('twilio: message service SID, or the sender’s number.'),
  ),
  AUTH_SMS_TWILIO_CONTENT_SID: Optional(
    textField('twilio: content template for WhatsApp messages.'),
  ),
  AUTH_SMS_TWILIO_URL: baseUrl('https://api.twilio.com'),
  AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID: Optional(textField('twilio_verify: account SID.')),
  AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN: Optional(secret('twilio_verify: authentication token.')),
  AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: Optional(textField('twilio_verify: service SID.')),
  AUTH_SMS_TWILIO_VERIFY_URL: baseUrl('https://verify.twilio.com'),
  AUTH_SMS_MESSAGEBIRD_ACCESS_KEY: Optional(secret('messagebird: access key.')),
  AUTH_SMS_MESSAGEBIRD_ORIGINATOR: Optional(
    textField('messagebird: the sender, a number with its + or a company name.'),
  ),
  AUTH_SMS_MESSAGEBIRD_URL: baseUrl('https://rest.messagebird.com'),
  AUTH_SMS_TEXTLOCAL_API_KEY: Optional(secret('textlocal: API key.')),
  AUTH_SMS_TEXTLOCAL_SENDER: Optional(textField('textlocal: the sender.')),
  AUTH_SMS_TEXTLOCAL_URL: baseUrl('https://api.textlocal.in'),
  AUTH_SMS_VONAGE_API_KEY: Optional(secret('vonage: API key.')),
  AUTH_SMS_VONAGE_API_SECRET: Optional(secret('vonage: API secret.')),
  AUTH_SMS_VONAGE_FROM: Optional(textField('vonage: the sender.')),
  AUTH_SMS_VONAGE_URL: baseUrl('https://rest.nexmo.com'),
})
