/**
 * Second factors: adding one, proving it in a session, removing it; and the recovery codes of whoever lost theirs. Nothing
 * else counts a factor as verified.
 */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { accept, approve, refuseClone } from './accept.ts'
import { challenge } from './challenge.ts'
import { enrol } from './enrol.ts'
import { requireEnroll } from './factor-types.ts'
import { gate, gateRecoveryCode } from './guesses.ts'
import { consult } from './hook.ts'
import { findAsked, judge } from './judge.ts'
import { discardRecoveryCodes, makeRecoveryCodes } from './recovery-codes/manage.ts'
import { approveRecoveryCode, spendRecoveryCode } from './recovery-codes/spend.ts'
import { unenrol } from './unenrol.ts'

declare module 'fastify' {
  interface FastifyInstance {
    factors: ReturnType<typeof createFactors>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  'audit',
  'config',
  'emails',
  'encryption',
  'events',
  'hooks',
  'log',
  'bearerAuth',
  'otp',
  'sessions',
  'sms',
  'webauthn',
] as const

const createFactors = (house: House<Needs>) => ({
  ...bindSteps(house, { requireEnroll, enrol, challenge, unenrol }),
  ...bindSteps(house, { findAsked, gate, judge, consult, approve, accept, refuseClone }),
  ...bindSteps(house, { makeRecoveryCodes, discardRecoveryCodes }),
  ...bindSteps(house, { gateRecoveryCode, approveRecoveryCode, spendRecoveryCode }),
})

export default definePlugin({ name: 'factors', needs, create: createFactors })
