/** Handles a provider's response: the account and, in the same transaction, the code or session for the client. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { recordAudit } from '../../../modules/audit/index.ts'
import {
  type AuthorizationState,
  issueOauthCode,
  readLinkContext,
} from '../../../modules/flows/index.ts'
import {
  type AcceptedSignIn,
  completeExternalSignIn,
  createExternalSession,
  type ExternalUser,
  permitExternalUser,
} from '../../../modules/identities/index.ts'
import { joinByConnection, permitConnectionJoin } from '../../../modules/organizations/index.ts'

interface CallbackInput {
  request: FastifyRequest
  flow: AuthorizationState
  user: ExternalUser
}

/** Resolves the account and, in the same transaction, issues the code or creates the session. */
export async function signIn(
  app: FastifyInstance,
  request: FastifyRequest,
  flow: AuthorizationState,
  user: ExternalUser,
  now: Date,
) {
  const { db, flows, identities, organizations } = app
  const { audience: aud, clientIp: ip } = request
  const { baseUrl, network } = readLinkContext(flows, request, {})
  const permit = await permitExternalUser(identities, db, user, flow, { aud, ip })
  const connection = await permitConnectionJoin(organizations, user, ip)
  const links = { redirectTo: flow.target, baseUrl, pkce: undefined, network }
  const context = { ip, aud, permit, links }
  return db.transaction().execute(async (trx) => {
    const found = await completeExternalSignIn(identities, trx, user, flow, context, now)
    if (found.state === 'rejected') return found
    if (connection) {
      const { identity } = user
      await joinByConnection(organizations, trx, connection, found.user, { identity, ip }, now)
    }
    const complete = flow.pkce ? issueCode : openSession
    return complete(app, trx, { request, flow, user }, found, now)
  })
}

async function issueCode(
  { audit, flows }: FastifyInstance,
  trx: Trx,
  { request, flow, user: externalUser }: CallbackInput,
  { user, action }: AcceptedSignIn,
  now: Date,
) {
  // The code exchange records the sign-in; other actions are recorded here.
  const isRecorded = action === 'login' || action === 'identity_linked'
  const record = { ip: request.clientIp, now, traits: { provider: flow.provider } }
  if (!isRecorded) await recordAudit(audit, trx, action, user, record)
  const code = await issueOauthCode(flows, trx, flow, user.id, externalUser.identity, now)
  return { state: 'code' as const, code }
}

async function openSession(
  app: FastifyInstance,
  trx: Trx,
  { request: { clientInfo, clientIp: ip }, flow: { provider } }: CallbackInput,
  found: AcceptedSignIn,
  now: Date,
) {
  const client = { provider, clientInfo, ip }
  const opened = await createExternalSession(app.identities, trx, found, client, now)
  return { state: 'opened' as const, opened }
}
