import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { Metadata, normalizeEmail, RedirectQuery } from '../../schemas/fields.ts'
import { toUser, User } from '../../schemas/user.ts'

const types = [
  'signup',
  'magiclink',
  'recovery',
  'invite',
  'email_change_current',
  'email_change_new',
] as const
type LinkType = (typeof types)[number]

const Body = Type.Object({
  type: Type.String({ description: types.join(', ') }),
  email: Type.String(),
  new_email: Type.Optional(Type.String({ description: 'For the email_change types' })),
  password: Type.Optional(Type.String({ description: 'For signup' })),
  data: Type.Optional(Metadata),
  redirect_to: Type.Optional(Type.String()),
})

const Answer = Type.Object({
  ...User.properties,
  action_link: Type.String({ description: 'To be delivered to the person' }),
  email_otp: Type.String({ description: 'The code that proves the same as the link' }),
  hashed_token: Type.String({ description: 'The token of the link' }),
  verification_type: Type.String(),
  redirect_to: Type.String(),
})

const generateLink: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminTrail, config, db, linkGeneration, links, passwords, requireAdmin } = fastify

  fastify.post(
    '/admin/generate_link',
    {
      onRequest: requireAdmin,
      schema: {
        summary: 'Make a link that you deliver yourself',
        description:
          'Sends nothing. signup, invite and magiclink create the person when there is none with the address.',
        tags: ['admin'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: Answer, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const wish = await readWish(request.body)
      const context = links.contextOf(request, {}, request.body.redirect_to)
      const { user, link, type } = await db.transaction().execute(async (trx) => {
        const made = await linkGeneration.generate(trx, wish, context, now)
        const traits = { now, link_type: made.type }
        await adminTrail.record(trx, made.action, request, made.user, traits)
        return made
      })
      return {
        ...toUser(user),
        action_link: link.url,
        email_otp: link.code,
        hashed_token: link.linkToken,
        verification_type: type,
        redirect_to: context.redirectTo,
      }
    },
  )

  async function readWish(body: Static<typeof Body>) {
    const type = readType(body.type)
    const changesEmail = type === 'email_change_current' || type === 'email_change_new'
    return {
      type,
      email: normalizeEmail(body.email),
      newEmail: changesEmail ? normalizeEmail(body.new_email ?? '') : '',
      aud: config.AUTH_JWT_AUD,
      passwordHash: type === 'signup' ? await hashPassword(body.password) : null,
      data: body.data ?? {},
    }
  }

  async function hashPassword(password: string | undefined): Promise<string> {
    if (!password) throw validationFailed('Signup requires a valid password')
    await passwords.checkStrength(password)
    return passwords.hash(password)
  }
}

function readType(text: string): LinkType {
  const type = types.find((known) => known === text)
  if (!type) throw validationFailed(`Invalid email action link type requested: ${text}`)
  return type
}

export default generateLink
