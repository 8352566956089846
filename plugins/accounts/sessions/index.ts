/** Sessions: the one place that opens them, what a refresh token is exchanged for, where a person is signed in, and the end of it. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { end, endAll, suspendAll } from './end.ts'
import { readEndToken } from './end-link.ts'
import { listSessions } from './list.ts'
import { openNewcomer } from './newcomer.ts'
import { answer, open } from './open.ts'
import { refresh } from './refresh.ts'
import { approveUpgrade, upgrade } from './upgrade.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sessions: ReturnType<typeof createSessions>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  'audit',
  'config',
  'db',
  'emails',
  'encryption',
  'events',
  'flows',
  'hooks',
  'jwt',
  'bearerAuth',
  'otp',
  'takeover',
  'telemetry',
] as const

const createSessions = (house: House<Needs>) =>
  bindSteps(house, {
    open,
    openNewcomer,
    approveUpgrade,
    upgrade,
    answer,
    list: listSessions,
    refresh,
    end,
    endAll,
    suspendAll,
    readEndToken,
  })

export default definePlugin({ name: 'sessions', needs, create: createSessions })
