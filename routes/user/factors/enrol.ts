import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { FactorType } from '../../../db/mfa.ts'
import { validationFailed } from '../../../errors.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { normalizePhone } from '../../../schemas/fields.ts'

const Body = Type.Object({
  factor_type: Type.Optional(Type.String({ description: 'totp, phone or webauthn' })),
  friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
  issuer: Type.Optional(
    Type.String({ maxLength: 64, description: 'How an authenticator app calls this site' }),
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
        qr_code: Type.String({ description: 'SVG of the uri' }),
        secret: Type.String({ description: 'Base32' }),
        uri: Type.String({ description: 'otpauth' }),
      }),
    ),
    phone: Type.Optional(Type.String({ description: 'As it was sent' })),
  },
  { title: 'EnrolledFactor' },
)

const enrol: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, factors } = fastify

  fastify.post(
    '/factors',
    {
      config: { themselves: true, isOpenWithoutFactor: true },
      schema: {
        summary: 'Add a second factor',
        description:
          'It counts once a challenge of it was answered in this session. ' +
          'A person who has one already needs a session at aal2.',
        tags: ['mfa'],
        body: Body,
        response: { 200: Enrolled, ...ErrorResponses },
      },
    },
    async (request) => {
      const member = bearerAuth.memberOf(request)
      const { factor_type, friendly_name: name = '', issuer, phone } = request.body
      const type = readType(factor_type)
      factors.requireEnroll(type)
      const enrolment = {
        type,
        name,
        issuer: issuer || undefined,
        phone: type === 'phone' ? normalizePhone(phone ?? '') : null,
      }
      const at = { ip: request.clientIp, now: new Date() }
      const enrolled = await db
        .transaction()
        .execute((trx) => factors.enrol(trx, member, enrolment, at))
      return { ...enrolled, ...(type === 'phone' && phone !== undefined && { phone }) }
    },
  )
}

function readType(type: string | undefined): FactorType {
  if (type === 'totp' || type === 'phone' || type === 'webauthn') return type
  throw validationFailed('factor_type needs to be totp, phone, or webauthn')
}

export default enrol
