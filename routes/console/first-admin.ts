import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { lockSessionShared } from '../../db/sessions/sessions.ts'
import { updateUser } from '../../db/users/update-user.ts'
import { findUserByEmail, type UserRecord } from '../../db/users/users.ts'
import { isClaimable, recordClaim, recordServerRole } from '../../modules/access/index.ts'
import { findLink, redeemLink } from '../../modules/admins/index.ts'
import { recordAudit } from '../../modules/audit/index.ts'
import { checkForm, findSignedIn, startPageSession } from '../../modules/page-session/index.ts'
import { createSession } from '../../modules/sessions/index.ts'
import {
  clearAutoconfirmed,
  clearUnverifiedCredentials,
  createUserAsAdmin,
  lockActiveUser,
  readNewAdminUser,
  verifyEmail,
} from '../../modules/users/index.ts'
import { ConsoleUser, toConsoleUser } from '../../schemas/console/admin.ts'
import { AdminRole } from '../../schemas/console/admin-role.ts'
import { FormTokenHeader } from '../../schemas/console/form-token.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { sessionNotFound, validationFailed } from '../../schemas/errors.ts'
import { nullable } from '../../schemas/values/choices.ts'

const path = '/console/first_admin'

const OneTimeToken = Type.String({ minLength: 43, maxLength: 43, description: 'From the link' })

const Body = Type.Object({
  token: OneTimeToken,
  email: Type.Optional(Type.String({ description: 'Absent when the link names an address' })),
  password: Type.Optional(
    Type.String({ description: 'Absent for a user who is signed in on the hosted pages' }),
  ),
})

const Link = Type.Object({ email: nullable(Type.String()), role: AdminRole })
const Made = Type.Object({ user: ConsoleUser, role: AdminRole })

/** Resolves the new or signed-in user inside the transaction, with the session in which the user is signed in. */
type FindUser = (trx: Trx, now: Date) => Promise<{ user: UserRecord; ownSessionId?: string }>

const checkSchema = {
  summary: 'Get the purpose of a one-time admin link',
  tags: ['console'],
  headers: FormTokenHeader,
  body: Type.Object({ token: OneTimeToken }),
  response: { 200: Link, ...ErrorResponses },
}

const redeemSchema = {
  summary: 'Become an admin with a one-time link',
  description:
    'With a password, a user with a confirmed address is created; without one, the user who is signed in at the pages ' +
    'becomes the admin. The browser is signed in.',
  tags: ['console'],
  headers: FormTokenHeader,
  body: Body,
  response: { 200: Made, ...ErrorResponses },
}

const firstAdmin: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, db, rateLimits } = app

  app.post(
    `${path}/check`,
    { config: { rateLimit: rateLimits.verify }, schema: checkSchema },
    async (request) => {
      checkForm(app, request, request.headers['x-form-token'])
      return findLink(db, request.body.token, new Date())
    },
  )

  app.post(
    path,
    { config: { rateLimit: rateLimits.verify }, schema: redeemSchema },
    async (request, reply) => {
      const now = new Date()
      checkForm(app, request, request.headers['x-form-token'])
      const { token, password } = request.body
      // Checked before a password is hashed, as the endpoint is public.
      const link = await findLink(db, token, now)
      const isNew = password !== undefined
      const address = link.email ?? request.body.email
      const findUser = isNew
        ? await newUser(app, request, { address, password })
        : await ownUser(app, request)
      const { user, admin, opened } = await db.transaction().execute(async (trx) => {
        const { user, ownSessionId } = await findUser(trx, now)
        const admin = await redeemLink(app, trx, token, { user, ownSessionId }, now)
        const traits = { user_id: user.id, user_email: user.email ?? '', role: admin.role }
        await recordAudit(audit, trx, 'admin_added', user, { ip: request.clientIp, now, traits })
        await recordServerRole(app, trx, { userId: user.id, role: admin.role }, now)
        const opened = isNew ? await openSession(app, trx, request, user, now) : undefined
        return { user, admin, opened }
      })
      if (opened) {
        reply.header('set-cookie', await startPageSession(app, opened, now))
      }
      return { user: toConsoleUser(user), role: admin.role }
    },
  )
}

/** Throws validation_failed and weak_password; the transaction throws email_exists. */
async function newUser(
  app: FastifyInstance,
  { audience }: FastifyRequest,
  { address, password }: { address: string | undefined; password: string },
): Promise<FindUser> {
  if (!address) throw validationFailed('Send the email address of the new admin as email')
  await app.passwords.checkStrength(password)
  const record = { email: address, password, email_confirm: true, aud: audience }
  const draft = await readNewAdminUser(app, record, new Date())
  return async (trx, now) => {
    const claimed = await claimUnverified(app, trx, draft, now)
    return { user: claimed ?? (await createUserAsAdmin(app, trx, draft, now)) }
  }
}

/** An account without a proven identifier, or that an operator prepared, may be another user's: nothing remains. */
async function claimUnverified(
  app: FastifyInstance,
  trx: Trx,
  { email, aud, passwordHash }: Awaited<ReturnType<typeof readNewAdminUser>>,
  now: Date,
): Promise<UserRecord | undefined> {
  const found = email ? await findUserByEmail(trx, email, aud) : undefined
  if (!email || !found || found.is_sso_user) return undefined
  const user = await lockActiveUser(trx, found.id, now)
  if (!(await isClaimable(trx, user))) return undefined
  const retained = { keepIdentity: { provider: 'email' }, passwordHash } as const
  const isCleared = await clearAutoconfirmed(app, trx, user, email, retained, now)
  if (!isCleared) {
    const withoutPhone = { phone: null, phone_confirmed_at: null }
    await updateUser(trx, user.id, withoutPhone, now)
    await clearUnverifiedCredentials(app, trx, { ...user, ...withoutPhone }, retained, now)
  }
  await recordClaim(trx, user.id)
  return verifyEmail(app, trx, user.id, { clearTokens: true, endSessions: true }, now)
}

/** Throws validation_failed when the browser is not signed in; the transaction throws session_not_found. */
async function ownUser(app: FastifyInstance, request: FastifyRequest): Promise<FindUser> {
  const signedIn = await findSignedIn(app, request, new Date())
  if (!signedIn) {
    throw validationFailed('Send a password for a new account, or sign in first and send none')
  }
  const { id, session_id: ownSessionId } = signedIn.session
  return async (trx, now) => {
    const user = await lockActiveUser(trx, id, now)
    if (!(await lockSessionShared(trx, id, ownSessionId))) throw sessionNotFound()
    return { user, ownSessionId }
  }
}

/** Returns the id of a session authenticated by password. */
async function openSession(
  app: FastifyInstance,
  trx: Trx,
  request: FastifyRequest,
  user: UserRecord,
  now: Date,
) {
  const passwordHash = user.encrypted_password ?? ''
  const authentication = {
    method: 'password' as const,
    passwordHash,
    clientInfo: request.clientInfo,
  }
  const { facts } = await createSession(app, trx, user, authentication, now)
  return facts.session.session_id
}

export default firstAdmin
