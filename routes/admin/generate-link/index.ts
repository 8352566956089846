import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUserByEmail } from '../../../db/users/users.ts'
import { changedUserFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { generateLink } from '../../../modules/credentials/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { LinkBody, readLinkRequest } from './link-request.ts'

const GeneratedLink = Type.Object({
  ...User.properties,
  action_link: Type.String({ description: 'To be delivered to the user' }),
  email_otp: Type.String({ description: 'The code, which verifies like the link' }),
  hashed_token: Type.String({ description: 'The token of the link' }),
  verification_type: Type.String(),
  redirect_to: Type.String(),
})

const generateLinkRoute: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, credentials, db, flows } = fastify

  fastify.post(
    '/admin/generate_link',
    {
      schema: {
        summary: 'Generate an email link without sending it',
        description:
          'No email is sent. signup, invite and magiclink create the user if the address is unknown.',
        tags: ['admin'],
        querystring: RedirectQuery,
        body: LinkBody,
        response: { 200: GeneratedLink, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const linkRequest = await readLinkRequest(fastify, request)
      const context = readLinkContext(flows, request, {}, request.body.redirect_to)
      const { user, link, type } = await db.transaction().execute(async (trx) => {
        const subject = await findUserByEmail(trx, linkRequest.email, linkRequest.aud)
        await bearerAuth.reauthorizeAdmin(trx, request, now, subject)
        const before = await findUserByEmail(trx, linkRequest.email, linkRequest.aud)
        const made = await generateLink(credentials, trx, linkRequest, context, now)
        const changes = changedUserFields(before, made.user)
        const traits = { now, link_type: made.type, ...changes }
        await recordAdminActionOnUser(audit, trx, made.action, request, made.user, traits)
        return made
      })
      return {
        ...toUser(user),
        action_link: link.url,
        email_otp: link.code,
        hashed_token: link.tokenHash,
        verification_type: type,
        redirect_to: context.redirectTo,
      }
    },
  )
}

export default generateLinkRoute
