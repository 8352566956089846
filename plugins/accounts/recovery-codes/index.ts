/** Recovery codes: what a person who lost their second factor types in its place, each of them once. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { discard } from './discard.ts'
import { gate } from './guesses.ts'
import { make } from './make.ts'
import { approve, spend } from './spend.ts'

declare module 'fastify' {
  interface FastifyInstance {
    recoveryCodes: ReturnType<typeof createRecoveryCodes>
  }
}

type Needs = (typeof needs)[number]

const needs = ['audit', 'emails', 'encryption', 'otp', 'sessionPolicy', 'sessions'] as const

const createRecoveryCodes = (house: House<Needs>) =>
  bindSteps(house, { make, approve, spend, discard, gate })

export default definePlugin({ name: 'recoveryCodes', needs, create: createRecoveryCodes })
