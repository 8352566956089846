import type { FastifyInstance, FastifyRequest } from 'fastify'

import { badIdToken, manualLinkingDisabled } from '../../errors.ts'
import type { SignInOutcome } from '../../plugins/accounts/external-sign-ins.ts'
import type { TokenRequest } from '../../schemas/token-request.ts'
import type { Grant } from './grant.ts'

/** An id_token (OpenID Connect Core §2) that an app got from the provider itself. */
export function idTokenGrant(fastify: FastifyInstance): Grant {
  const { audit, bearerAuth, config, db, externalSignIns, identities, links } = fastify
  const { oauthProviders, sessions } = fastify

  return async (body, request, now) => {
    const linkingTargetId = body.link_identity ? await linkingTarget(body, request, now) : undefined
    const signedIn = await oauthProviders.identifyByIdToken(toRequest(body), now)
    const { provider, identity, emailOptional } = signedIn
    const person = { provider, identity, emailOptional }
    const { clientIp: ip, client } = request
    const context = { ip, links: links.contextOf(request, {}) }

    const outcome = await db.transaction().execute(async (trx) => {
      const found: SignInOutcome = linkingTargetId
        ? await identities.link(trx, linkingTargetId, person, context, now)
        : await externalSignIns.signIn(trx, person, context, now)
      if (found.state === 'refused') return found
      const { user, action } = found
      const entry =
        action === 'identity_linked' ? undefined : audit.entry(action, user, ip, { provider })
      const opening = { method: 'oauth' as const, client, audit: entry }
      return { state: 'session' as const, session: await sessions.issue(trx, user, opening, now) }
    })
    if (outcome.state === 'refused') throw outcome.error
    return outcome.session
  }

  /** Who wants another way to sign in. Nothing is asked of a provider before that is known. */
  async function linkingTarget({ id_token }: TokenRequest, request: FastifyRequest, now: Date) {
    if (!id_token) throw badIdToken('invalid request', 'id_token is missing')
    if (!request.headers.authorization) {
      throw badIdToken('invalid request', 'Linking an identity needs the token of a session')
    }
    const { user } = await bearerAuth.authenticate(request, now)
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
    return user.id
  }
}

function toRequest(body: TokenRequest) {
  const { id_token, provider, issuer, client_id, access_token, nonce } = body
  return {
    ...{ idToken: id_token, provider, issuer, clientId: client_id },
    ...{ accessToken: access_token, nonce },
  }
}
