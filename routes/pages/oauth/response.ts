import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findAuthorization } from '../../../db/oauth-server/authorizations.ts'
import { findFormResponse } from '../../../modules/oauth-server/index.ts'
import { sendFormResponse, sendUnknownRequest } from '../../../modules/pages/index.ts'
import { PageOrError } from '../../../schemas/page.ts'

const Text = Type.Optional(Type.String())
const Query = Type.Object({ authorization_id: Text, code: Text, error: Text })

/** Posts the response to a client that requested `response_mode=form_post`. */
const response: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/oauth/response',
    {
      schema: {
        summary:
          'Page that posts the authorization response to the client (response_mode=form_post)',
        tags: ['pages'],
        querystring: Query,
        response: { 200: PageOrError, 404: PageOrError, 410: PageOrError },
      },
    },
    async (request, reply) => {
      const { authorization_id: id = '', ...outcome } = request.query
      const stored = await findAuthorization(db, id)
      const form = stored && findFormResponse(app, stored, outcome, new Date())
      if (form) return sendFormResponse(app, request, reply, form)
      return sendUnknownRequest(app, request, reply, stored)
    },
  )
}

export default response
