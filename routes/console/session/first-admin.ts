import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { findLink, redeemLink } from '../../../modules/admins/index.ts'
import { recordAudit } from '../../../modules/audit/index.ts'
import { checkForm, findSignedIn, startPageSession } from '../../../modules/page-session/index.ts'
import { createSession } from '../../../modules/sessions/index.ts'
import {
  createUserAsAdmin,
  lockActiveUser,
  readNewAdminUser,
} from '../../../modules/users/index.ts'
import { ConsoleUser, toConsoleUser } from '../../../schemas/console/admin.ts'
import { AdminRole } from '../../../schemas/console/admin-role.ts'
import { FormTokenHeader } from '../../../schemas/console/form-token.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { nullable } from '../../../schemas/values/choices.ts'

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

/** Resolves the new or signed-in user inside the transaction. */
type FindUser = (trx: Trx, now: Date) => Promise<UserRecord>

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

const firstAdmin: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, db, rateLimits } = fastify

  fastify.post(
    `${path}/check`,
    { config: { rateLimit: rateLimits.verify }, schema: checkSchema },
    async (request) => {
      checkForm(fastify, request, request.headers['x-form-token'])
      return findLink(db, request.body.token, new Date())
    },
  )

  fastify.post(
    path,
    { config: { rateLimit: rateLimits.verify }, schema: redeemSchema },
    async (request, reply) => {
      const now = new Date()
      checkForm(fastify, request, request.headers['x-form-token'])
      const { token, password } = request.body
      // Checked before a password is hashed, as the endpoint is public.
      const link = await findLink(db, token, now)
      const isNew = password !== undefined
      const address = link.email ?? request.body.email
      const findUser = isNew
        ? await newUser(fastify, request, { address, password })
        : await ownUser(fastify, request)
      const { user, admin, opened } = await db.transaction().execute(async (trx) => {
        const user = await findUser(trx, now)
        const admin = await redeemLink(trx, token, user, now)
        const traits = { user_id: user.id, user_email: user.email ?? '', role: admin.role }
        await recordAudit(audit, trx, 'admin_added', user, { ip: request.clientIp, now, traits })
        const opened = isNew ? await openSession(fastify, trx, request, user, now) : undefined
        return { user, admin, opened }
      })
      if (opened) {
        reply.header('set-cookie', await startPageSession(fastify, opened, now))
      }
      return { user: toConsoleUser(user), role: admin.role }
    },
  )
}

/** Throws validation_failed and weak_password; the transaction throws email_exists. */
async function newUser(
  { passwords, users }: FastifyInstance,
  { audience }: FastifyRequest,
  { address, password }: { address: string | undefined; password: string },
): Promise<FindUser> {
  if (!address) throw validationFailed('Send the email address of the new admin as email')
  await passwords.checkStrength(password)
  const record = { email: address, password, email_confirm: true, aud: audience }
  const draft = await readNewAdminUser(users, record, new Date())
  return (trx, now) => createUserAsAdmin(users, trx, draft, now)
}

/** Throws validation_failed when the browser is not signed in. */
async function ownUser(fastify: FastifyInstance, request: FastifyRequest): Promise<FindUser> {
  const signedIn = await findSignedIn(fastify, request, new Date())
  if (!signedIn) {
    throw validationFailed('Send a password for a new account, or sign in first and send none')
  }
  return (trx, now) => lockActiveUser(trx, signedIn.session.id, now)
}

/** Returns the id of a session authenticated by password. */
async function openSession(
  { sessions }: FastifyInstance,
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
  const { facts } = await createSession(sessions, trx, user, authentication, now)
  return facts.session.session_id
}

export default firstAdmin
