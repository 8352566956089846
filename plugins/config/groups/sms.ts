import { Type } from '@sinclair/typebox'

import { choice, duration, flag, group, secret, text, url, whole } from '../fields.ts'
import { map, moment } from '../values.ts'

const { Optional } = Type

export const smsProviderNames = [
  'twilio',
  'twilio_verify',
  'messagebird',
  'textlocal',
  'vonage',
] as const

const baseUrl = (preset: string) => url('Base address, for tests and proxies.', { default: preset })

export const sms = group('Text messages', {
  AUTH_SMS_PROVIDER: Optional(choice('Who delivers text messages.', smsProviderNames)),
  AUTH_SMS_AUTOCONFIRM: flag('Takes phone numbers as confirmed without a message.', false),
  AUTH_SMS_MAX_FREQUENCY: duration(
    'Shortest time between two messages to one person; repeats hold back repeats only.',
    {
      default: '60s',
    },
  ),
  AUTH_SMS_OTP_EXP: duration('Lifetime of a texted code.', {
    default: '60s',
    exclusiveMinimum: 0,
  }),
  AUTH_SMS_OTP_LENGTH: whole('Digits of a texted code.', { default: 6, minimum: 6, maximum: 10 }),
  AUTH_SMS_TEMPLATE: text('The message; `{{ .Code }}` stands for the code.', {
    default: 'Your code is {{ .Code }}',
  }),
  AUTH_SMS_TEST_OTP: map(
    'Numbers that get no message and sign in with a fixed code, as `phone:code,phone:code`.',
    { default: {}, 'x-type': 'test-codes', 'x-secret': true },
  ),
  AUTH_SMS_TEST_OTP_VALID_UNTIL: Optional(
    moment('Moment (RFC 3339) after which the test numbers stop working.', {
      'x-default-text': 'no end',
      'x-example': '2030-01-01T00:00:00Z',
    }),
  ),
  AUTH_SMS_TWILIO_ACCOUNT_SID: Optional(text('twilio: account SID.')),
  AUTH_SMS_TWILIO_AUTH_TOKEN: Optional(secret('twilio: authentication token.')),
  AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: Optional(
    text('twilio: message service SID, or the sender’s number.'),
  ),
  AUTH_SMS_TWILIO_CONTENT_SID: Optional(text('twilio: content template for WhatsApp messages.')),
  AUTH_SMS_TWILIO_URL: baseUrl('https://api.twilio.com'),
  AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID: Optional(text('twilio_verify: account SID.')),
  AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN: Optional(secret('twilio_verify: authentication token.')),
  AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: Optional(text('twilio_verify: service SID.')),
  AUTH_SMS_TWILIO_VERIFY_URL: baseUrl('https://verify.twilio.com'),
  AUTH_SMS_MESSAGEBIRD_ACCESS_KEY: Optional(secret('messagebird: access key.')),
  AUTH_SMS_MESSAGEBIRD_ORIGINATOR: Optional(
    text('messagebird: the sender, a number with its + or a company name.'),
  ),
  AUTH_SMS_MESSAGEBIRD_URL: baseUrl('https://rest.messagebird.com'),
  AUTH_SMS_TEXTLOCAL_API_KEY: Optional(secret('textlocal: API key.')),
  AUTH_SMS_TEXTLOCAL_SENDER: Optional(text('textlocal: the sender.')),
  AUTH_SMS_TEXTLOCAL_URL: baseUrl('https://api.textlocal.in'),
  AUTH_SMS_VONAGE_API_KEY: Optional(secret('vonage: API key.')),
  AUTH_SMS_VONAGE_API_SECRET: Optional(secret('vonage: API secret.')),
  AUTH_SMS_VONAGE_FROM: Optional(text('vonage: the sender.')),
  AUTH_SMS_VONAGE_URL: baseUrl('https://rest.nexmo.com'),
})
