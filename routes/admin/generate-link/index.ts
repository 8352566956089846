import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUserByEmail } from '../../../db/users.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { LinkBody, readLinkRequest } from './link-request.ts'

const Answer = Type.Object({
  ...User.properties,
  action_link: Type.String({ description: 'To be delivered to the person' }),
  email_otp: Type.String({ description: 'The code that proves the same as the link' }),
  hashed_token: Type.String({ description: 'The token of the link' }),
  verification_type: Type.String(),
  redirect_to: Type.String(),
})

const generateLink: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, credentials, db, flows } = fastify

  fastify.post(
    '/admin/generate_link',
    {
      schema: {
        summary: 'Make a link that you deliver yourself',
        description:
          'Sends nothing. signup, invite and magiclink create the person when there is none with the address.',
        tags: ['admin'],
        querystring: RedirectQuery,
        body: LinkBody,
        response: { 200: Answer, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const asked = await readLinkRequest(fastify, request)
      const context = flows.linkContext(request, {}, request.body.redirect_to)
      const { user, link, type } = await db.transaction().execute(async (trx) => {
        const subject = await findUserByEmail(trx, asked.email, asked.aud)
        await bearerAuth.holdAdmin(trx, request, now, subject)
        const before = await findUserByEmail(trx, asked.email, asked.aud)
        const made = await credentials.generateLink(trx, asked, context, now)
        const changes = audit.personDifference(before, made.user)
        const traits = { now, link_type: made.type, ...changes }
        await audit.recordAdmin(trx, made.action, request, made.user, traits)
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
}

export default generateLink
