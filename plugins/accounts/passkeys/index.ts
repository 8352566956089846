/** Passkeys: key pairs with which people sign in, without a password and without saying who they are. */
import { passkeyDisabled } from '../../../errors.ts'
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { askForSignIn, askToRegister, spendRegistration, spendSignIn } from './challenges.ts'
import { remove, rename } from './manage.ts'
import { checkMayAdd, register } from './register.ts'
import { accept, judge } from './sign-in.ts'

declare module 'fastify' {
  interface FastifyInstance {
    passkeys: ReturnType<typeof createPasskeys>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  ...(['audit', 'bearerAuth', 'config', 'emails', 'log', 'sessions', 'users'] as const),
  'webauthn',
] as const

function createPasskeys(house: House<Needs>) {
  const { AUTH_PASSKEY_ENABLED: enabled } = house.config
  return {
    /** onRequest. Throws passkey_disabled. */
    async requireEnabled(): Promise<void> {
      if (!enabled) throw passkeyDisabled()
    },
    ...{ spendRegistration, spendSignIn },
    ...bindSteps(house, { askToRegister, checkMayAdd, register }),
    ...bindSteps(house, { askForSignIn, judge, accept, rename, remove }),
  }
}

export default definePlugin({ name: 'passkeys', needs, create: createPasskeys })
