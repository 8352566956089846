/** The keys and limits of one-time codes and links, and the dependencies of this module. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { createResponsePadding } from './limits/response-padding.ts'
import { createSendPolicy } from './limits/send-limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    otp: ReturnType<typeof createOtp>
  }
}

type DepNames = (typeof deps)[number]

const deps = [
  'config',
  'db',
  'encryption',
  'mailer',
  'sms',
  'gotrueMigration',
  'telemetry',
] as const

function createOtp(needed: Deps<DepNames>) {
  const { config, encryption, mailer, sms, gotrueMigration: takeover } = needed
  return {
    config,
    mailer,
    sms,
    takeover,
    ...createSendPolicy(needed),
    tokenKey: encryption.deriveKey('one-time tokens'),
    tokenKeys: encryption.deriveKeys('one-time tokens').toArray(),
    attemptKeys: {
      password: encryption.deriveKey('sign-in throttle'),
      code: encryption.deriveKey('code throttle'),
      nonce: encryption.deriveKey('nonce throttle'),
      factor: encryption.deriveKey('factor throttle'),
    },
    deviceKey: encryption.deriveKey('known devices'),
    lifetimes: { mailSeconds: config.AUTH_MAILER_OTP_EXP, smsSeconds: config.AUTH_SMS_OTP_EXP },
    pace: createResponsePadding(),
  }
}

export default definePlugin({ name: 'otp', deps, create: createOtp })
