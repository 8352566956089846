/** Authorization-code flows (RFC 7636) between the step that proves a person and the client that waits for it. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { type FlowStateRow, issueAuthCode } from '../../db/flow-states.ts'
import { flowStateMissing } from '../../errors.ts'
import { answersChallenge } from './pkce.ts'
import type { AuthenticationMethod } from './sessions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    flows: ReturnType<typeof createFlows>
  }
}

const methods: readonly AuthenticationMethod[] = [
  'recovery',
  'magiclink',
  'email/signup',
  'email_change',
  'invite',
  'oauth',
]

export function createFlows({ decrypt }: Pick<FastifyInstance['encryption'], 'decrypt'>) {
  const open = (flow: FlowStateRow, token: string | null) =>
    token && decrypt(flow.id, token, "A provider's token")

  return {
    /** The code for the client that started the person's newest flow of this method. Throws flow_state_not_found. */
    async issueCode(trx: Trx, userId: string, method: AuthenticationMethod, now: Date) {
      const code = await issueAuthCode(trx, userId, method, crypto.randomUUID(), now)
      if (!code) throw flowStateMissing()
      return code
    },

    /** True when the verifier is the one whose challenge started the flow. */
    isAnswered(flow: FlowStateRow, verifier: string): boolean {
      const { code_challenge: challenge, code_challenge_method: method } = flow
      if (!challenge || !method) return false
      return answersChallenge(verifier, { challenge, method })
    },

    /** How the person was proven, for the session's `amr`. */
    methodOf({ authentication_method }: FlowStateRow): AuthenticationMethod {
      return methods.find((method) => method === authentication_method) ?? 'otp'
    },

    /** What an external provider gave along, for clients that call it. */
    providerTokens(flow: FlowStateRow) {
      const access = open(flow, flow.provider_access_token)
      const refresh = open(flow, flow.provider_refresh_token)
      return {
        ...(access && { provider_token: access }),
        ...(refresh && { provider_refresh_token: refresh }),
      }
    },
  }
}

async function flows(fastify: FastifyInstance) {
  fastify.decorate('flows', createFlows(fastify.encryption))
}

export default fp(flows, { name: 'flows', fastify: '5.x', dependencies: ['encryption'] })
