import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findUser, type UserRecord } from '../../../db/users/users.ts'
import {
  reauthenticate,
  requireFreshProof,
  requireVerifiedFactor,
} from '../../../modules/access/index.ts'
import { type AuditContext, recordAudit } from '../../../modules/audit/index.ts'
import {
  acceptPhoneChange,
  checkDeletable,
  checkDeletion,
  checkEmailChange,
  checkPasswordChange,
  sendPhoneChangeOtp,
  setPassword,
  setPhone,
  startEmailChange,
} from '../../../modules/credentials/index.ts'
import { notifyUser } from '../../../modules/emails/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import type { LinkContext, SmsChannel } from '../../../modules/otp/index.ts'
import {
  type Changes,
  checkMetadataSize,
  checkProfile,
  deleteUserAsAdmin,
  isCredentialChange,
  updateProfile,
} from '../../../modules/users/index.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import type { AuthContext } from '../../../plugins/security/bearer-auth/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { featureDisabled } from '../../../schemas/errors.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { ChangeBody, readUserChanges } from './changes.ts'

const DeletionBody = Type.Union([
  Type.Object({
    nonce: Type.Optional(Type.String({ description: 'The code of GET /reauthenticate' })),
    password: Type.Optional(Type.String({ description: 'The current password' })),
  }),
  Type.Null(),
])

/**
 * Deletes the current user after a recent authentication. Throws feature_disabled, and the errors of
 * `credentials.checkDeletion`.
 */
async function deleteCurrentUser(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: Static<typeof DeletionBody> }>,
): Promise<void> {
  const now = new Date()
  if (!app.config.AUTH_USER_SELF_DELETE_ENABLED) {
    throw featureDisabled('Only admins may delete accounts (AUTH_USER_SELF_DELETE_ENABLED)')
  }
  const { body, clientIp: ip } = request
  const auth = app.bearerAuth.getAuth(request)
  await checkDeletion(app, app.db, auth, body ?? {}, now)
  await app.db.transaction().execute(async (trx) => {
    // The session may have been revoked, and a factor added, during the check.
    const current = await app.bearerAuth.reauthorize(trx, auth, now)
    checkDeletable(app, current, now)
    const how = { soft: false, namesConstraint: false }
    const user = await deleteUserAsAdmin(app, trx, current.user.id, how, now)
    await recordAudit(app.audit, trx, 'user_deleted', user, { ip, now })
    await notifyUser(app, trx, user, { kind: 'account_deleted_notification' }, now)
  })
}

const user: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, rateLimits } = app

  app.get(
    '/user',
    {
      config: { isOpenWithoutFactor: true, rejectsImpersonation: false },
      schema: {
        summary: 'Get the current user',
        tags: ['user'],
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(bearerAuth.getAuth(request).user),
  )

  app.put(
    '/user',
    {
      // Whether impersonation is allowed depends on the body: checkProfile decides.
      config: { rateLimit: rateLimits.otp, rejectsImpersonation: false },
      schema: {
        summary: 'Update the current user',
        description:
          'A new address or number takes effect when the link or code sent to it is verified. ' +
          'A new password revokes all other sessions.',
        tags: ['user'],
        querystring: RedirectQuery,
        body: ChangeBody,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(await updateCurrentUser(app, request)),
  )

  app.delete(
    '/user',
    {
      config: { rateLimit: rateLimits.otp, rejectsImpersonation: true },
      schema: {
        summary: 'Delete the current user',
        description:
          'Requires AUTH_USER_SELF_DELETE_ENABLED and a sign-in or second factor within the last ten minutes, the ' +
          'password, or a nonce; also aal2 for users with a second factor.',
        tags: ['user'],
        body: DeletionBody,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await deleteCurrentUser(app, request)
      return reply.status(204).send(null)
    },
  )
}

export default user

/**
 * Updates the current user and returns the result. Throws the errors of `readChanges`, `users.checkProfile` and each
 * kind of change.
 */
async function updateCurrentUser(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: ChangeBody }>,
): Promise<UserRecord> {
  const { bearerAuth, config, db, emailValidation } = app
  const { body, clientInfo, clientIp: ip } = request
  const auth = bearerAuth.getAuth(request)
  const now = new Date()
  const changes = await readUserChanges(app, auth.user, body)
  const context = readLinkContext(app, request, body)
  const channel = app.sms.parseChannel(changes.phone ? body.channel : undefined)
  checkAllowed(app, auth, changes, now)
  checkMetadataSize(app, { user_metadata: changes.data, app_metadata: changes.app_metadata })

  if (changesOnlyMetadata(changes)) {
    const { nonce, current_password: currentPassword } = body
    await reauthenticate(app, db, auth, { nonce, currentPassword }, now)
    return updateProfile(app, db, auth.user, changes, { ip, now })
  }
  if (changes.email && !config.AUTH_MAILER_AUTOCONFIRM) await emailValidation.check(changes.email)
  const { network } = context
  const prepared = await prepare(app, auth, changes, { body, channel, network }, now)
  const update = { changes, prepared, clientInfo, context }
  const changed = await db
    .transaction()
    .execute((trx) => apply(app, trx, auth, update, { ip, now }))
  await prepared.password?.attempt?.succeeded(db)
  return changed
}

/** Throws the errors of `users.checkProfile`, and insufficient_aal for a change of credentials. */
function checkAllowed(app: FastifyInstance, auth: AuthContext, changes: Changes, now: Date): void {
  checkProfile(app, auth, changes)
  if (isCredentialChange(changes)) requireVerifiedFactor(app, auth, 'credentials', now)
}

/** Whether only the user's own metadata change, which nothing else depends on. */
function changesOnlyMetadata({ email, phone, password, app_metadata }: Changes): boolean {
  return !email && !phone && password === undefined && !app_metadata
}

/** Work before the transaction; undefined for unchanged fields. All checks come before any waiting. */
async function prepare(
  app: FastifyInstance,
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
    const checked = await checkPasswordChange(app, app.db, auth, change, now)
    return { ...checked, hash: await app.passwords.hash(newPassword) }
  }
  // A nonce consumed here is recorded in the session.
  const renewed = password === undefined ? undefined : await renew(password)
  if (email || phone) {
    const shown = { nonce, currentPassword }
    await requireFreshProof(app, app.db, auth, { change: 'credentials', shown }, now)
  }
  return {
    password: renewed,
    email: email ? await checkEmailChange(app, app.db, user, email, network, now) : undefined,
    phone: phone ? await sendPhoneChangeOtp(app, app.db, user, { phone, channel }, now) : undefined,
  }
}

interface Update {
  changes: Changes
  prepared: Awaited<ReturnType<typeof prepare>>
  clientInfo: ClientInfo
  context: LinkContext
}

async function apply(
  app: FastifyInstance,
  trx: Trx,
  auth: AuthContext,
  { changes, prepared, clientInfo, context }: Update,
  { ip, now }: AuditContext,
): Promise<UserRecord> {
  // The session may have been revoked while the changes were prepared.
  const current = await app.bearerAuth.reauthorize(trx, auth, now)
  checkAllowed(app, current, changes, now)
  if (prepared.password) {
    const { hash, isNewMethod } = prepared.password
    const replaces = auth.user.encrypted_password
    const keepSession = auth.session?.session_id
    const change = { hash, replaces, keepSession, isNewMethod, clientInfo }
    await setPassword(app, trx, current.user, change, { ip, now })
  }
  const changed = await updateProfile(app, trx, auth.user, changes, { ip, now })
  const { email, phone } = prepared
  // An immediate change invalidates pending codes, so it comes before the new code.
  const asking = { user: changed, session: current.session }
  if (changes.phone && !phone) {
    const assumedBy = changed.email_confirmed_at ? 'user' : 'autoconfirm'
    await setPhone(app, trx, asking, { phone: changes.phone, assumedBy }, now)
  }
  if (email) await startEmailChange(app, trx, asking, email, context, now)
  if (phone) await acceptPhoneChange(app, trx, changed, phone, now)
  return (await findUser(trx, changed.id)) ?? changed
}
