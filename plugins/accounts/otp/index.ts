/**
 * One-time codes and links, by mail and by text message: how often and how many may be sent, and the gate before every guess
 * at an account.
 */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { createLink, createNonce } from './email-links.ts'
import { flowMethodOf, linkKinds } from './kinds.ts'
import { deviceHash } from './known-devices.ts'
import { createPace } from './pace.ts'
import { orRefund } from './quota-refund.ts'
import {
  chargeQuota,
  checkQuota,
  checkRepeat,
  claimInterval,
  createSendPolicy,
  releaseInterval,
} from './send-limits.ts'
import { claimSms, deliverSms, rehearseSms, sendSms, storeSms, withholdSms } from './sms-otp.ts'
import { judgeSmsCode, smsSeconds, takeSmsCode } from './sms-otp-check.ts'
import { gate, gateSignIn } from './throttle.ts'
import { isPkce } from './token-forms.ts'
import { findLink, newCode, takeCode, takeLink } from './tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    otp: ReturnType<typeof createOtp>
  }
}

type Needs = (typeof needs)[number]

const needs = ['config', 'db', 'encryption', 'mailer', 'sms', 'takeover', 'telemetry'] as const

function createOtp(needed: House<Needs>) {
  const { config, encryption, mailer, sms, takeover } = needed
  const house = {
    config,
    mailer,
    sms,
    takeover,
    ...createSendPolicy(needed),
    tokenKey: encryption.deriveKey('one-time tokens'),
    tokenKeys: encryption.deriveKeys('one-time tokens').toArray(),
    gateKeys: {
      password: encryption.deriveKey('sign-in throttle'),
      code: encryption.deriveKey('code throttle'),
      nonce: encryption.deriveKey('nonce throttle'),
      factor: encryption.deriveKey('factor throttle'),
    },
    deviceKey: encryption.deriveKey('known devices'),
    lifetimes: { mailSeconds: config.AUTH_MAILER_OTP_EXP, smsSeconds: config.AUTH_SMS_OTP_EXP },
    pace: createPace(),
  }
  return {
    ...bindSteps(house, { takeCode, takeLink, findLink, createLink, createNonce }),
    ...bindSteps(house, { claimSms, deliverSms, withholdSms, sendSms, rehearseSms, storeSms }),
    ...bindSteps(house, { judgeSmsCode, takeSmsCode, gate, gateSignIn, deviceHash }),
    ...bindSteps(house, {
      claimInterval,
      checkRepeat,
      releaseInterval,
      checkQuota,
      chargeQuota,
      orRefund,
    }),
    newCode,
    isPkce,
    linkKinds,
    flowMethodOf,
    linkSeconds: config.AUTH_MAILER_OTP_EXP,
    smsSeconds: smsSeconds(house),
  }
}

export default definePlugin({
  name: 'otp',
  needs,
  create: createOtp,
})
