import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { validationFailed } from '../../errors.ts'
import type { AuditAction } from '../../plugins/accounts/audit/entry.ts'
import type { RecordKeyChange } from '../../plugins/jwt/signing-keys/key-change.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { SigningKey, toSigningKey } from '../../schemas/signing-key.ts'

const Keys = Type.Object({ keys: Type.Array(SigningKey) })

const Change = Type.Object({
  action: Type.Union([Type.Literal('rotate'), Type.Literal('revoke'), Type.Literal('import')]),
  alg: Type.Optional(
    Type.Union([Type.Literal('RS256'), Type.Literal('ES256'), Type.Literal('EdDSA')], {
      description: 'For rotate; AUTH_JWT_ALGORITHM when absent',
    }),
  ),
  kid: Type.Optional(Type.String({ description: 'For revoke' })),
  jwk: Type.Optional(
    Type.Object(
      {
        kty: Type.String(),
        kid: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
        alg: Type.Optional(Type.String()),
      },
      { description: 'For import: a private JWK (RFC 7517)' },
    ),
  ),
})

type Action = Static<typeof Change>['action']

const keyActions = {
  rotate: 'signing_key_rotated',
  revoke: 'signing_key_revoked',
  import: 'signing_key_imported',
} as const satisfies Record<Action, AuditAction>

const keys: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, jwt, log } = fastify

  fastify.get(
    '/admin/keys',
    {
      schema: {
        summary: 'The signing keys and their states, oldest first',
        tags: ['admin'],
        response: { 200: Keys, ...ErrorResponses },
      },
    },
    list,
  )

  fastify.post(
    '/admin/keys',
    {
      schema: {
        summary: 'Rotate, revoke or import a signing key',
        tags: ['admin'],
        body: Change,
        response: { 200: Keys, ...ErrorResponses },
      },
    },
    async (request) => {
      const { action } = request.body
      const now = new Date()
      const record = recordFor(request, action, now)
      const kid = await change(request.body, record, now)
      log.info({ kid, action }, 'a signing key was changed')
      return list()
    },
  )

  /** Returns the id of the key that came or went. */
  async function change(
    { action, alg, kid, jwk }: Static<typeof Change>,
    record: RecordKeyChange,
    now: Date,
  ) {
    if (action === 'rotate') return jwt.keys.rotate(alg, { record }, now)
    if (action === 'import') {
      if (!jwk) throw validationFailed('To import a key, send its private JWK as jwk.')
      return jwt.keys.importKey(jwk, { record }, now)
    }
    if (kid === undefined) throw validationFailed('To revoke a key, send its kid.')
    await jwt.keys.revoke(kid, { record }, now)
    return kid
  }

  function recordFor(request: FastifyRequest, action: Action, now: Date): RecordKeyChange {
    return async (trx, changed) => {
      // Changing the keys waits for its turn: whoever is no admin any more by then changes nothing.
      await bearerAuth.holdAdmin(trx, request, now)
      const traits = { now, kid: changed.kid, ...audit.keyDifference(changed) }
      await audit.recordAdminOn(trx, keyActions[action], request, traits)
    }
  }

  async function list() {
    return { keys: (await jwt.keys.list()).map(toSigningKey) }
  }
}

export default keys
