import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'

import { findUser } from '../../../db/users.ts'
import type { Bearer } from '../../../plugins/bearer-auth.ts'
import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { ChangeBody, readChanges } from './changes.ts'
import { DeletionBody, deleteThemselves } from './deletion.ts'

const user: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, credentials, db, flows, passwords, rateLimits, sms, users } = fastify

  fastify.get(
    '/user',
    {
      config: { isOpenWithoutFactor: true, themselves: false },
      schema: {
        summary: 'The person whose token this is',
        tags: ['user'],
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(bearerAuth.bearerOf(request).user),
  )

  fastify.put(
    '/user',
    {
      // What of it is for the person alone depends on the body: checkProfile refuses that.
      config: { rateLimit: rateLimits.otp, themselves: false },
      schema: {
        summary: 'Change address, password or metadata',
        description:
          'Another address or number counts when the link or code sent to it is confirmed. ' +
          'A new password ends all other sessions.',
        tags: ['user'],
        querystring: RedirectQuery,
        body: ChangeBody,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => {
      const { body, client, clientIp: ip } = request
      const bearer = bearerAuth.bearerOf(request)
      const now = new Date()
      const changes = await readChanges(fastify, bearer.user, body)
      const context = flows.linkContext(request, body)
      const channel = sms.channelOf(changes.phone ? body.channel : undefined)
      users.checkProfile(bearer, changes, now)
      users.checkMetadata({ user_metadata: changes.data, app_metadata: changes.app_metadata })

      const { email, phone, password, app_metadata } = changes
      const at = { ip, now }
      if (!email && !phone && password === undefined && !app_metadata) {
        return toUser(await users.putProfile(db, bearer.user, changes, at))
      }
      const renewed = password === undefined ? undefined : await renew(bearer, password, body, now)
      const keepSession = bearer.session?.session_id
      // Before the transaction, so that whoever is refused has waited all the same.
      const newEmail = email && (await credentials.claimEmailChange(db, bearer.user, email, now))
      const newPhone =
        phone && (await credentials.askPhoneChange(db, bearer.user, { phone, channel }, now))

      const changed = await db.transaction().execute(async (trx) => {
        // Their session may have ended while all of this was looked at.
        const held = await bearerAuth.hold(trx, bearer, now)
        users.checkProfile(held, changes, now)
        if (renewed) {
          const replaces = bearer.user.encrypted_password
          const change = { hash: renewed.hash, replaces, keepSession, client }
          await credentials.putPassword(trx, held.user, change, at)
        }
        const changed = await users.putProfile(trx, bearer.user, changes, at)
        // What applies at once voids all codes on their way, so it comes before the one that was just sent.
        if (phone && !newPhone) await credentials.putPhone(trx, changed, phone, now)
        if (newEmail) await credentials.startEmailChange(trx, changed, newEmail, context, now)
        if (newPhone) await credentials.acceptPhoneChange(trx, changed, newPhone, now)
        return (await findUser(trx, changed.id)) ?? changed
      })
      await renewed?.attempt?.succeeded(db)
      return toUser(changed)
    },
  )

  fastify.delete(
    '/user',
    {
      config: { rateLimit: rateLimits.otp, themselves: true },
      schema: {
        summary: 'Delete the account of the person whose token this is',
        description:
          'Off unless AUTH_USER_SELF_DELETE_ENABLED. Needs a sign-in or a second factor of the last ten minutes, the ' +
          'password, or a nonce; and aal2 of people with a second factor.',
        tags: ['user'],
        body: DeletionBody,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await deleteThemselves(fastify, request)
      return reply.status(204).send(null)
    },
  )

  /** Throws what the rules for a new password refuse with. */
  async function renew(
    bearer: Bearer,
    password: string,
    body: Static<typeof ChangeBody>,
    now: Date,
  ) {
    const { nonce, current_password: currentPassword } = body
    const change = { password, nonce, currentPassword }
    const attempt = await credentials.checkPasswordChange(db, bearer, change, now)
    return { attempt, hash: await passwords.hash(password) }
  }
}

export default user
