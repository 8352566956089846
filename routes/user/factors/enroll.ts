import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { ChallengeableFactorType } from '../../../db/tables/factors.ts'
import { enrollFactor, requireFactorEnrollEnabled } from '../../../modules/factors/index.ts'
import { choices, needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { normalizePhone } from '../../../schemas/fields.ts'

const Body = Type.Object({
  factor_type: Type.Optional(Type.String({ ...needed, ...choices('totp', 'phone', 'webauthn') })),
  friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
  issuer: Type.Optional(
    Type.String({ maxLength: 64, description: 'The name of this site in an authenticator app' }),
  ),
  phone: Type.Optional(Type.String({ description: 'E.164, of a phone factor' })),
})

const Enrolled = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: Type.String(),
    friendly_name: Type.String(),
    totp: Type.Optional(
      Type.Object({
        qr_code: Type.String({ description: 'The uri as an SVG QR code' }),
        secret: Type.String({ description: 'Base32' }),
        uri: Type.String({ description: 'otpauth' }),
      }),
    ),
    phone: Type.Optional(Type.String({ description: 'As it was sent' })),
  },
  { title: 'EnrolledFactor' },
)

const enroll: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/factors',
    {
      config: { rejectsImpersonation: true, isOpenWithoutFactor: true },
      schema: {
        summary: 'Enroll a factor',
        description:
          'The factor is active once a challenge was verified in this session. ' +
          'A user who already has one needs a session at aal2.',
        tags: ['mfa'],
        body: Body,
        response: { 200: Enrolled, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const { factor_type, friendly_name: name = '', issuer, phone } = request.body
      const type = readType(factor_type)
      requireFactorEnrollEnabled(app, type)
      const enrolment = {
        type,
        name,
        issuer: issuer || undefined,
        phone: type === 'phone' ? normalizePhone(phone ?? '') : null,
      }
      const at = { ip: request.clientIp, now: new Date() }
      const enrolled = await db
        .transaction()
        .execute((trx) => enrollFactor(app, trx, auth, enrolment, at))
      return { ...enrolled, ...(type === 'phone' && phone !== undefined && { phone }) }
    },
  )
}

function readType(type: string | undefined): ChallengeableFactorType {
  if (type === 'totp' || type === 'phone' || type === 'webauthn') return type
  throw validationFailed('factor_type needs to be totp, phone, or webauthn')
}

export default enroll
