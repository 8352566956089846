import type { FastifyInstance, FastifyRequest } from 'fastify'

import { requireFreshProof } from '../../../modules/credentials/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import {
  completeExternalSignIn,
  createExternalSession,
  permitExternalUser,
} from '../../../modules/identities/index.ts'
import { joinByConnection, permitConnectionJoin } from '../../../modules/organizations/index.ts'
import { toTokenResponse } from '../../../modules/sessions/index.ts'
import { badIdToken, manualLinkingDisabled } from '../../../schemas/errors.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'
import type { GrantHandler } from './grant.ts'

/** An id_token (OpenID Connect Core §2) that an app received from the provider. */
export function idTokenGrant(fastify: FastifyInstance): GrantHandler {
  const { bearerAuth, config, credentials, db, flows } = fastify
  const { identities, oauthProviders, organizations, sessions } = fastify

  return async (body, request, now) => {
    const linking = body.link_identity ? await findLinkingUser(body, request, now) : {}
    const signedIn = await oauthProviders.identifyByIdToken(toRequest(body), now)
    const { provider, identity, emailOptional } = signedIn
    const externalUser = { provider, identity, emailOptional }
    const { audience: aud, clientIp: ip, clientInfo } = request
    const permit = await permitExternalUser(identities, db, externalUser, linking, { aud, ip })
    const connection = await permitConnectionJoin(organizations, externalUser, ip)
    const context = { ip, aud, permit, links: readLinkContext(flows, request, {}) }

    const outcome = await db.transaction().execute(async (trx) => {
      const found = await completeExternalSignIn(
        identities,
        trx,
        externalUser,
        linking,
        context,
        now,
      )
      if (found.state === 'rejected') return found
      if (connection) {
        await joinByConnection(organizations, trx, connection, found.user, { identity, ip }, now)
      }
      const client = { provider, clientInfo, ip }
      const opened = await createExternalSession(identities, trx, found, client, now)
      return { state: 'opened' as const, opened }
    })
    if (outcome.state === 'rejected') throw outcome.error
    return toTokenResponse(sessions, outcome.opened, now)
  }

  /** The user who links an identity. Checked before the provider is called. */
  async function findLinkingUser({ id_token }: TokenRequest, request: FastifyRequest, now: Date) {
    if (!id_token) throw badIdToken('invalid request', 'id_token is missing')
    if (!request.headers.authorization) {
      throw badIdToken('invalid request', 'Linking an identity requires a token with a session')
    }
    const auth = await bearerAuth.authenticateNotImpersonated(request, now)
    bearerAuth.checkFactor(auth)
    const { user, session } = auth
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
    await requireFreshProof(credentials, db, auth, { change: 'identity' }, now)
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
