import type { FastifyInstance, FastifyRequest } from 'fastify'

import { badIdToken, manualLinkingDisabled } from '../../../errors.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'
import type { Grant } from './grant.ts'

/** An id_token (OpenID Connect Core §2) that an app got from the provider itself. */
export function idTokenGrant(fastify: FastifyInstance): Grant {
  const { audit, bearerAuth, config, db, flows, identities, oauthProviders, sessions } = fastify

  return async (body, request, now) => {
    const linking = body.link_identity ? await findAsker(body, request, now) : {}
    const signedIn = await oauthProviders.identifyByIdToken(toRequest(body), now)
    const { provider, identity, emailOptional } = signedIn
    const person = { provider, identity, emailOptional }
    const { audience: aud, clientIp: ip, client } = request
    const approval = await identities.approve(db, person, linking, { aud, ip })
    const context = { ip, aud, approval, links: flows.linkContext(request, {}) }

    const outcome = await db.transaction().execute(async (trx) => {
      const found = await identities.completeSignIn(trx, person, linking, context, now)
      if (found.state === 'refused') return found
      const { user, action } = found
      const isLinked = action === 'identity_linked'
      const entry = isLinked ? undefined : audit.entry(action, user, ip, { provider })
      const opened = await sessions.open(trx, user, { method: 'oauth', client, audit: entry }, now)
      return { state: 'opened' as const, opened }
    })
    if (outcome.state === 'refused') throw outcome.error
    return sessions.answer(outcome.opened, now)
  }

  /** Who wants another way to sign in. Nothing is asked of a provider before that is known. */
  async function findAsker({ id_token }: TokenRequest, request: FastifyRequest, now: Date) {
    if (!id_token) throw badIdToken('invalid request', 'id_token is missing')
    if (!request.headers.authorization) {
      throw badIdToken('invalid request', 'Linking an identity needs the token of a session')
    }
    const bearer = await bearerAuth.authenticateThemselves(request, now)
    bearerAuth.checkFactor(bearer)
    const { user, session } = bearer
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
    return { linkingTargetId: user.id, linkingSessionId: session?.session_id }
  }
}

function toRequest(body: TokenRequest) {
  const { id_token, provider, issuer, client_id, access_token, nonce } = body
  return {
    idToken: id_token,
    provider,
    issuer,
    clientId: client_id,
    accessToken: access_token,
    nonce,
  }
}
