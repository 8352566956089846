/** Identities at providers: signing in by one, adding one to an account, taking one away. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { approve, completeSignIn, requireAddress } from './oauth-sign-in.ts'
import { unlink } from './unlink.ts'

declare module 'fastify' {
  interface FastifyInstance {
    identities: ReturnType<typeof createIdentities>
  }
}

type Needs = (typeof needs)[number]

const needs = ['audit', 'bearerAuth', 'config', 'emails', 'hooks', 'otp', 'users'] as const

const createIdentities = (house: House<Needs>) => ({
  ...bindSteps(house, { approve, completeSignIn, unlink }),
  requireAddress,
})

export default definePlugin({ name: 'identities', needs, create: createIdentities })
