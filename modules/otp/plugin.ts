/** The keys, limits and lifetimes of one-time codes and links. */
import type { FastifyInstance } from 'fastify'

import { defineModule } from '../../plugins/define-plugin.ts'
import { createSendPolicy } from './limits/send-limits.ts'
import { createResponsePadding } from './limits/timing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    otp: ReturnType<typeof createOtp>
  }
}

function createOtp(app: FastifyInstance) {
  const { config, encryption } = app
  return {
    ...createSendPolicy(app),
    tokenKey: encryption.deriveKey('one-time tokens'),
    // From every encryption key: codes sent before a key rotation stay valid.
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

export default defineModule('otp', createOtp)
