/**
 * Sign-ins through an external provider, from the way there to the way back. The OAuth state is the id of a row; what
 * must not travel through the browser waits in that row, encrypted. A state is spent before the provider is asked, so
 * that neither a second callback nor one that failed can use it again.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { findExternalFlow, insertFlowState, takeExternalFlow } from '../../db/flow-states.ts'
import { findUser } from '../../db/users.ts'
import {
  badOauthCallback,
  badOauthState,
  flowStateAlreadyUsed,
  userNotFound,
} from '../../errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import type { Identity } from '../oauth-providers.ts'
import {
  createReadFlow,
  type ExternalFlow,
  type ReadFlowDeps,
  type Waiting,
} from './external-flows/flow.ts'

export type { ExternalFlow } from './external-flows/flow.ts'

declare module 'fastify' {
  interface FastifyInstance {
    externalFlows: ReturnType<typeof createExternalFlows>
  }
}

interface ExternalFlowDeps extends ReadFlowDeps {
  db: Db
  links: FastifyInstance['links']
  oauthProviders: FastifyInstance['oauthProviders']
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  lifetimeSeconds: number
}

export function createExternalFlows(deps: ExternalFlowDeps) {
  const { db, encryption, links, oauthProviders, oneTimeTokens } = deps
  const readFlow = createReadFlow(deps)
  const lifetime = Math.max(deps.lifetimeSeconds, 300) * 1000

  async function checkInvitation(token: string, now: Date) {
    const live = await oneTimeTokens.findLink(db, ['confirmation_token'], token, now)
    if (!live) throw userNotFound('There is no invitation for this token')
  }

  return {
    /**
     * Remembers the request and returns where to send the browser. `linkingTargetId` is the person whom the identity is
     * to be linked to. Throws validation_failed, user_not_found for an invitation that is none.
     */
    async begin(
      request: FastifyRequest,
      query: Readonly<Record<string, string>>,
      now: Date,
      linkingTargetId?: string,
    ): Promise<string> {
      const { provider: asked = '', scopes = '', invite_token: inviteToken, ...rest } = query
      const provider = oauthProviders.nameOf(asked)
      const id = crypto.randomUUID()
      const listed = scopes.split(/[\s,]+/).filter(Boolean)
      const authorization = { state: id, scopes: listed, params: rest, now }
      const { url, secrets } = await oauthProviders.start(provider, authorization)
      if (inviteToken) await checkInvitation(inviteToken, now)
      const { redirectTo, pkce } = links.contextOf(request, query)
      const waiting: Waiting = { ...secrets, ...(inviteToken && { inviteToken }) }
      const flow = {
        ...{ id, user_id: null, auth_code: null, provider_type: provider },
        ...{ authentication_method: 'oauth', referrer: redirectTo },
        code_challenge: pkce?.challenge ?? null,
        code_challenge_method: pkce?.method ?? null,
        linking_target_id: linkingTargetId ?? null,
        email_optional: oauthProviders.emailOptional(provider),
        postern_secrets: encryption.encrypt(id, JSON.stringify(waiting)),
      }
      await insertFlowState(db, flow, now)
      return url.href
    },

    /** The sign-in that a callback ends. Throws bad_oauth_callback, bad_oauth_state, flow_state_already_used, user_not_found. */
    async find(state: string, now: Date): Promise<ExternalFlow> {
      if (state === '') throw badOauthCallback('OAuth state parameter missing')
      if (!isUuid(state)) throw badOauthState('OAuth state parameter is invalid')
      const row = await findExternalFlow(db, state)
      if (!row) throw badOauthState('OAuth state not found or expired')
      if (row.auth_code_issued_at) throw flowStateAlreadyUsed()
      if (now.getTime() - (row.created_at?.getTime() ?? 0) > lifetime) {
        throw badOauthState('OAuth state has expired')
      }
      const { linking_target_id: linkingTargetId } = row
      if (linkingTargetId && !(await findUser(db, linkingTargetId))) throw userNotFound()
      return readFlow(row)
    },

    /** Spends the state. Throws bad_oauth_state when another callback was first. */
    async claim({ id }: ExternalFlow): Promise<void> {
      if (!(await takeExternalFlow(db, id))) throw badOauthState('OAuth state not found or expired')
    },

    /** The code by which the client that started the flow gets the session. */
    async issueCode(
      trx: Trx,
      flow: ExternalFlow,
      userId: string,
      { providerToken = '', providerRefreshToken = '' }: Identity,
      now: Date,
    ): Promise<string> {
      const seal = (token: string) => token && encryption.encrypt(flow.id, token)
      const code = crypto.randomUUID()
      const answered = {
        ...{ id: flow.id, user_id: userId, provider_type: flow.provider },
        ...{ auth_code: code, auth_code_issued_at: now, authentication_method: 'oauth' },
        code_challenge: flow.pkce?.code_challenge ?? null,
        code_challenge_method: flow.pkce?.code_challenge_method ?? null,
        provider_access_token: seal(providerToken),
        provider_refresh_token: seal(providerRefreshToken),
      }
      await insertFlowState(trx, answered, now)
      return code
    },
  }
}

async function externalFlows(fastify: FastifyInstance) {
  const { config, db, encryption, links, oauthProviders, oneTimeTokens } = fastify
  const decorator = createExternalFlows({
    ...{ db, encryption, links, oauthProviders, oneTimeTokens },
    lifetimeSeconds: config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION,
    siteUrl: config.AUTH_SITE_URL,
    fixedTarget: config.AUTH_EXTERNAL_REDIRECTURL,
  })
  fastify.decorate('externalFlows', decorator)
}

export default fp(externalFlows, {
  name: 'external-flows',
  fastify: '5.x',
  dependencies: ['config', 'db', 'encryption', 'links', 'oauth-providers', 'one-time-tokens'],
})
