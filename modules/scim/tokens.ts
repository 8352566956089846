/** Tokens of SCIM clients. */
import { createHash, randomBytes } from 'node:crypto'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  findAuthenticatedConnection,
  insertScimToken,
  lockScimAccess,
  revokeScimToken,
  type ScimConnectionRow,
} from '../../db/scim/connections.ts'
import { scimRejected, scimTokenNotFound } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'

const tokenBytes = 32
/** Enough to recognize a token, and too little to guess it. */
const shownCharacters = 13

const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')

/** Returns the token, which is shown once. */
export async function issueScimToken(
  trx: Trx,
  connectionId: string,
  { name, expiresAt }: { name: string; expiresAt: Date | null },
  now: Date,
): Promise<{ id: string; token: string; prefix: string }> {
  const token = `scim_${randomBytes(tokenBytes).toString('base64url')}`
  const id = crypto.randomUUID()
  const prefix = token.slice(0, shownCharacters)
  const row = { id, sso_provider_id: connectionId, name, prefix, expires_at: expiresAt }
  await insertScimToken(trx, { ...row, token_hash: hashToken(token) }, now)
  return { id, token, prefix }
}

/** Throws scim_token_not_found. */
export async function endScimToken(
  trx: Trx,
  { connectionId, id }: { connectionId: string; id: string },
  now: Date,
): Promise<void> {
  const isFound = isUuid(connectionId) && isUuid(id)
  if (isFound) await lockScimAccess(trx, connectionId, 'exclusive')
  if (!isFound || !(await revokeScimToken(trx, { connectionId, id }, now))) {
    throw scimTokenNotFound()
  }
}

/**
 * The connection of the token in the Authorization header. One response for a missing, unknown, expired and revoked
 * token and for one of another connection: 401. A disabled connection, or one of a deleted organization: 403.
 */
export async function authenticateScimClient(
  db: Db,
  connectionId: string,
  authorization: string | undefined,
  now: Date,
): Promise<ScimConnectionRow> {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  const tokenHash = token && hashToken(token)
  const found =
    tokenHash && isUuid(connectionId)
      ? await findAuthenticatedConnection(db, { connectionId, tokenHash }, now)
      : undefined
  if (!found) throw scimRejected(401, undefined, 'A valid token of this connection is required')
  if (!found.enabled || found.is_disabled) {
    throw scimRejected(403, undefined, 'This connection is disabled')
  }
  return found
}

/** First in a transaction: the access does not end before the transaction. Throws like `authenticateScimClient`. */
export async function reauthenticateScimClient(
  trx: Trx,
  connectionId: string,
  authorization: string | undefined,
  now: Date,
): Promise<ScimConnectionRow> {
  await lockScimAccess(trx, connectionId, 'shared')
  return authenticateScimClient(trx, connectionId, authorization, now)
}
