/** One-time codes and links, by mail and by text message, and the gate before every guess at an account. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { createLink, createNonce, linkContext } from './email-links.ts'
import { flowMethodOf, linkKinds } from './kinds.ts'
import { deviceHash } from './known-devices.ts'
import { createPace } from './pace.ts'
import {
  claimSms,
  deliverSms,
  rehearseSms,
  sendSms,
  smsSeconds,
  storeSms,
  withholdSms,
} from './sms-otp.ts'
import { judgeSmsCode, takeSmsCode } from './sms-otp-check.ts'
import { gate, gateSignIn } from './throttle.ts'
import { createToken, findLink, isPkce, newCode, takeCode, takeLink } from './tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    otp: ReturnType<typeof createOtp>
  }
}

type Needs = 'config' | 'encryption' | 'mailer' | 'redirects' | 'sendLimits' | 'sms'

function createOtp({ config, encryption, mailer, redirects, sendLimits, sms }: House<Needs>) {
  const tokenKey = encryption.deriveKey('one-time tokens')
  const gateKeys = {
    password: encryption.deriveKey('sign-in throttle'),
    code: encryption.deriveKey('code throttle'),
    nonce: encryption.deriveKey('nonce throttle'),
    factor: encryption.deriveKey('factor throttle'),
  }
  const deviceKey = encryption.deriveKey('known devices')
  const pace = createPace()
  const keys = { tokenKey, gateKeys, deviceKey }
  const house = { config, mailer, redirects, sendLimits, sms, pace, ...keys }
  const tokens = bindSteps(house, { createToken, takeCode })
  const links = bindSteps(house, { linkContext, createLink, createNonce })
  const sending = { claimSms, deliverSms, withholdSms, sendSms, rehearseSms, storeSms }
  const texts = bindSteps(house, sending)
  const checks = bindSteps(house, { judgeSmsCode, takeSmsCode, gate, gateSignIn, deviceHash })
  return {
    ...{ newCode, ...tokens, takeLink, findLink, isPkce },
    ...{ linkKinds, flowMethodOf, linkSeconds: config.AUTH_MAILER_OTP_EXP, ...links },
    ...{ smsSeconds: smsSeconds(house), ...texts, ...checks },
  }
}

export default definePlugin({
  name: 'otp',
  needs: ['config', 'encryption', 'mailer', 'redirects', 'sendLimits', 'sms'],
  create: createOtp,
})
