import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { challengeFactor } from '../../../modules/factors/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { FactorPath } from '../../../schemas/factor.ts'
import { Channel, readUuid } from '../../../schemas/fields.ts'

const Body = Type.Union([Type.Object({ channel: Channel }), Type.Null()])

const Challenge = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: Type.String(),
    expires_at: Type.Integer({ description: 'Seconds since the Unix epoch' }),
    webauthn: Type.Optional(
      Type.Object({
        type: Type.String({ description: 'create or request' }),
        credential_options: Type.Object({
          publicKey: Type.Record(Type.String(), Type.Unknown(), {
            description: 'For navigator.credentials.create() or get()',
          }),
        }),
      }),
    ),
  },
  { title: 'FactorChallenge' },
)

const challenge: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  app.post(
    '/factors/:factor_id/challenge',
    {
      config: { rejectsImpersonation: true, rateLimit: rateLimits.mfa, isOpenWithoutFactor: true },
      schema: {
        summary: 'Create a challenge for a factor',
        description: 'Sends the code of a phone factor.',
        tags: ['mfa'],
        params: FactorPath,
        body: Body,
        response: { 200: Challenge, ...ErrorResponses },
      },
    },
    (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const factorId = readUuid('factor_id', request.params.factor_id)
      const channel = request.body?.channel
      const input = { factorId, channel, ip: request.clientIp }
      return challengeFactor(app, db, auth, input, new Date())
    },
  )
}

export default challenge
