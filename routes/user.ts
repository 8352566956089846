import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { findUser, lockUser, type UserRecord } from '../db/users.ts'
import { noAuthorization, phoneProviderDisabled } from '../errors.ts'
import type { UserWish } from '../plugins/accounts/user-changes.ts'
import { ErrorResponses } from '../schemas/error.ts'
import {
  Metadata,
  normalizeEmail,
  normalizePhone,
  PkceFields,
  RedirectQuery,
} from '../schemas/fields.ts'
import { toUser, User } from '../schemas/user.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'E.164' })),
  channel: Type.Optional(Type.String({ description: 'sms or whatsapp' })),
  password: Type.Optional(Type.String()),
  current_password: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String({ description: 'The code of GET /reauthenticate' })),
  data: Type.Optional(Metadata),
  app_metadata: Type.Optional(Metadata),
  ...PkceFields,
})

type Change = FastifyRequest<{ Body: Static<typeof Body> }>

const user: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, db, emailChanges, links, passwordChanges, passwords } = fastify
  const { phoneChanges, phones, rateLimits, sms, userChanges } = fastify

  fastify.get(
    '/user',
    {
      preHandler: fastify.requireUser,
      schema: {
        summary: 'The person whose token this is',
        tags: ['user'],
        response: { 200: User, ...ErrorResponses },
      },
    },
    async ({ bearer }) => {
      if (!bearer) throw noAuthorization()
      return toUser(bearer.user)
    },
  )

  fastify.put(
    '/user',
    {
      preHandler: fastify.requireUser,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Change address, password or metadata',
        description:
          'Another address or number counts when the link or code sent to it is confirmed. ' +
          'A new password ends all other sessions.',
        tags: ['user'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => {
      const { bearer, body } = request
      if (!bearer) throw noAuthorization()
      const now = new Date()
      const wish = await readWish(bearer.user, body)
      const context = links.contextOf(request, body)
      const channel = sms.channelOf(wish.phone ? body.channel : undefined)
      userChanges.check(bearer, wish)

      const { email, phone, password } = wish
      const at = { ip: request.clientIp, now }
      if (!email && !phone && password === undefined) {
        return toUser(await userChanges.put(db, bearer.user, wish, at))
      }
      if (email) await emailChanges.checkFree(db, bearer.user, email)
      if (phone) await phoneChanges.checkFree(db, bearer.user, phone)
      if (password !== undefined) {
        const { nonce, current_password: currentPassword } = body
        await passwordChanges.check(db, bearer, { password, nonce, currentPassword }, now)
      }
      const hash = password === undefined ? undefined : await passwords.hash(password)
      const keepSession = bearer.session?.session_id
      const sent = phone && (await phoneChanges.ask(db, bearer.user, { phone, channel }, now))

      return db.transaction().execute(async (trx) => {
        await lockUser(trx, bearer.user.id)
        if (hash) await passwordChanges.put(trx, bearer.user, { hash, keepSession }, at)
        const changed = await userChanges.put(trx, bearer.user, wish, at)
        // What applies at once voids all codes on their way, so it comes before the one that was just sent.
        if (phone && !sent) await phoneChanges.put(trx, changed, phone, now)
        if (email) await emailChanges.start(trx, changed, email, context, now)
        if (sent) await phones.store(trx, changed.id, sent, now)
        return toUser((await findUser(trx, changed.id)) ?? changed)
      })
    },
  )

  /** Normal forms and strength; an address the person has already is not asked for. */
  async function readWish(user: UserRecord, body: Change['body']): Promise<UserWish> {
    const { password, nonce, data, app_metadata } = body
    const email = body.email ? normalizeEmail(body.email) : undefined
    const phone = body.phone ? normalizePhone(body.phone) : undefined
    if (phone && !config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone logins are disabled', 400)
    }
    if (password !== undefined) await passwords.checkStrength(password)
    return {
      email: email === user.email ? undefined : email,
      phone: phone === user.phone ? undefined : phone,
      password,
      nonce,
      data,
      app_metadata,
    }
  }
}

export default user
