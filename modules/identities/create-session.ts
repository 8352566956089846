import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import { createAuditEntry } from '../audit/index.ts'
import { createSession } from '../sessions/index.ts'
import type { AcceptedSignIn } from './types.ts'

interface ExternalClient {
  provider: string
  clientInfo: ClientInfo
  ip: string
}

/** Creates the session of an external sign-in and records it; linking an identity was recorded before. */
export function createExternalSession(
  app: FastifyInstance,
  trx: Trx,
  { user, action }: AcceptedSignIn,
  { provider, clientInfo, ip }: ExternalClient,
  now: Date,
) {
  const isLinked = action === 'identity_linked'
  const entry = isLinked ? undefined : createAuditEntry(app.audit, action, user, ip, { provider })
  return createSession(app, trx, user, { method: 'oauth', clientInfo, audit: entry }, now)
}
