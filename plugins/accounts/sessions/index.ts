/** Sessions: the one place that opens them, what a refresh token is exchanged for, where a person is signed in, and the end of it. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { answer } from './answer.ts'
import { end, endAll, suspendAll } from './end.ts'
import { listSessions } from './list.ts'
import { open } from './open.ts'
import { refresh } from './refresh.ts'
import { upgrade } from './upgrade.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sessions: ReturnType<typeof createSessions>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  ...(['audit', 'db', 'emails', 'encryption', 'events', 'flows', 'hooks', 'jwt', 'otp'] as const),
  ...(['sessionPolicy', 'telemetry'] as const),
] as const

const createSessions = (house: House<Needs>) =>
  bindSteps(house, { open, upgrade, answer, list: listSessions, refresh, end, endAll, suspendAll })

export default definePlugin({ name: 'sessions', needs, create: createSessions })
