import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findUser, type UserRecord } from '../../../db/users/users.ts'
import type { AuditContext } from '../../../modules/audit/index.ts'
import {
  acceptPhoneChange,
  checkEmailChange,
  checkPasswordChange,
  reauthenticate,
  requireFreshProof,
  requireVerifiedFactor,
  sendPhoneChangeOtp,
  setPassword,
  setPhone,
  startEmailChange,
} from '../../../modules/credentials/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import type { LinkContext, SmsChannel } from '../../../modules/otp/index.ts'
import {
  type Changes,
  checkMetadataSize,
  checkProfile,
  isCredentialChange,
  updateProfile,
} from '../../../modules/users/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import type { AuthContext } from '../../../plugins/security/bearer-auth/index.ts'
import { type ChangeBody, readUserChanges } from './changes.ts'

/**
 * Updates the current user and returns the result. Throws the errors of `readChanges`, `users.checkProfile` and each
 * kind of change.
 */
export async function updateCurrentUser(
  deps: FastifyInstance,
  request: FastifyRequest<{ Body: ChangeBody }>,
): Promise<UserRecord> {
  const { bearerAuth, credentials, db, flows, users } = deps
  const { body, clientInfo, clientIp: ip } = request
  const auth = bearerAuth.getAuth(request)
  const now = new Date()
  const changes = await readUserChanges(deps, auth.user, body)
  const context = readLinkContext(flows, request, body)
  const channel = deps.sms.parseChannel(changes.phone ? body.channel : undefined)
  checkAllowed(deps, auth, changes, now)
  checkMetadataSize(users, { user_metadata: changes.data, app_metadata: changes.app_metadata })

  if (changesOnlyMetadata(changes)) {
    const { nonce, current_password: currentPassword } = body
    await reauthenticate(credentials, db, auth, { nonce, currentPassword }, now)
    return updateProfile(users, db, auth.user, changes, { ip, now })
  }
  const { network } = context
  const prepared = await prepare(deps, auth, changes, { body, channel, network }, now)
  const update = { changes, prepared, clientInfo, context }
  const changed = await db
    .transaction()
    .execute((trx) => apply(deps, trx, auth, update, { ip, now }))
  await prepared.password?.attempt?.succeeded(db)
  return changed
}

/** Throws the errors of `users.checkProfile`, and insufficient_aal for a change of credentials. */
function checkAllowed(
  { credentials, users }: Deps<'credentials' | 'users'>,
  auth: AuthContext,
  changes: Changes,
  now: Date,
): void {
  checkProfile(users, auth, changes)
  if (isCredentialChange(changes)) requireVerifiedFactor(credentials, auth, 'credentials', now)
}

/** Whether only the user's own metadata change, which nothing else depends on. */
function changesOnlyMetadata({ email, phone, password, app_metadata }: Changes): boolean {
  return !email && !phone && password === undefined && !app_metadata
}

/** Work before the transaction; undefined for unchanged fields. All checks come before any waiting. */
async function prepare(
  { credentials, db, passwords }: Deps<'credentials' | 'db' | 'passwords'>,
  auth: AuthContext,
  { email, phone, password }: Changes,
  {
    body,
    channel,
    network,
  }: { body: ChangeBody; channel: SmsChannel; network: string | undefined },
  now: Date,
) {
  const { user } = auth
  const { nonce, current_password: currentPassword } = body
  const renew = async (newPassword: string) => {
    const change = { password: newPassword, nonce, currentPassword }
    const checked = await checkPasswordChange(credentials, db, auth, change, now)
    return { ...checked, hash: await passwords.hash(newPassword) }
  }
  // A nonce consumed here is recorded in the session.
  const renewed = password === undefined ? undefined : await renew(password)
  if (email || phone) {
    const shown = { nonce, currentPassword }
    await requireFreshProof(credentials, db, auth, { change: 'credentials', shown }, now)
  }
  return {
    password: renewed,
    email: email ? await checkEmailChange(credentials, db, user, email, network, now) : undefined,
    phone: phone
      ? await sendPhoneChangeOtp(credentials, db, user, { phone, channel }, now)
      : undefined,
  }
}

interface Update {
  changes: Changes
  prepared: Awaited<ReturnType<typeof prepare>>
  clientInfo: ClientInfo
  context: LinkContext
}

async function apply(
  { bearerAuth, credentials, users }: Deps<'bearerAuth' | 'credentials' | 'users'>,
  trx: Trx,
  auth: AuthContext,
  { changes, prepared, clientInfo, context }: Update,
  { ip, now }: AuditContext,
): Promise<UserRecord> {
  // The session may have been revoked while the changes were prepared.
  const current = await bearerAuth.reauthorize(trx, auth, now)
  checkAllowed({ credentials, users }, current, changes, now)
  if (prepared.password) {
    const { hash, isNewMethod } = prepared.password
    const replaces = auth.user.encrypted_password
    const keepSession = auth.session?.session_id
    const change = { hash, replaces, keepSession, isNewMethod, clientInfo }
    await setPassword(credentials, trx, current.user, change, { ip, now })
  }
  const changed = await updateProfile(users, trx, auth.user, changes, { ip, now })
  const { email, phone } = prepared
  // An immediate change invalidates pending codes, so it comes before the new code.
  const asking = { user: changed, session: current.session }
  if (changes.phone && !phone) {
    const isAssumed = changed.email_confirmed_at === null
    await setPhone(credentials, trx, asking, { phone: changes.phone, isAssumed }, now)
  }
  if (email) await startEmailChange(credentials, trx, asking, email, context, now)
  if (phone) await acceptPhoneChange(credentials, trx, changed, phone, now)
  return (await findUser(trx, changed.id)) ?? changed
}
