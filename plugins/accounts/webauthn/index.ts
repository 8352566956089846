/**
 * Key pairs that devices keep for people (WebAuthn Level 3): passkeys, with which people sign in without a password and
 * without saying who they are, and the ceremonies, which security keys as second factors go through as well.
 */
import { passkeyDisabled } from '../../../errors.ts'
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { createCeremonies } from './ceremonies.ts'
import {
  askForSignIn,
  askToRegister,
  spendRegistration,
  spendSignIn,
} from './passkeys/challenges.ts'
import { remove, rename } from './passkeys/manage.ts'
import { checkMayAdd, register } from './passkeys/register.ts'
import { accept, judge } from './passkeys/sign-in.ts'
import { relyingPartyOf } from './relying-party.ts'

declare module 'fastify' {
  interface FastifyInstance {
    webauthn: ReturnType<typeof createWebauthn>
  }
}

type Needs = (typeof needs)[number]

const needs = ['audit', 'bearerAuth', 'config', 'emails', 'log', 'sessions', 'users'] as const

function createWebauthn(house: House<Needs>) {
  const { bearerAuth, config } = house
  const ceremonies = createCeremonies(relyingPartyOf(config))
  const asking = { bearerAuth, config, ceremonies }
  return {
    ...ceremonies,
    passkeys: {
      /** onRequest. Throws passkey_disabled. */
      async requireEnabled(): Promise<void> {
        if (!config.AUTH_PASSKEY_ENABLED) throw passkeyDisabled()
      },
      spendSignIn,
      ...bindSteps(asking, { askToRegister, askForSignIn, spendRegistration, judge }),
      ...bindSteps(house, { checkMayAdd, register, accept, rename, remove }),
    },
  }
}

export default definePlugin({ name: 'webauthn', needs, create: createWebauthn })
