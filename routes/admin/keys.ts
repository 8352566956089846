import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { recordServerChange } from '../../modules/access/index.ts'
import { type AuditAction, changedKeyFields, recordAdminAction } from '../../modules/audit/index.ts'
import type { RecordKeyChange } from '../../plugins/security/jwt/signing-keys/stored-keys.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed } from '../../schemas/errors.ts'
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

const readSchema = {
  summary: 'List the signing keys, oldest first',
  tags: ['admin'],
  response: { 200: Keys, ...ErrorResponses },
}

const changeSchema = {
  summary: 'Rotate, revoke or import a signing key',
  tags: ['admin'],
  body: Change,
  response: { 200: Keys, ...ErrorResponses },
}

const keys: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, jwt, log } = app

  app.get('/admin/keys', { config: { minimumRole: 'support' }, schema: readSchema }, list)

  app.post(
    '/admin/keys',
    { config: { minimumRole: 'owner', givesAccess: true }, schema: changeSchema },
    async (request) => {
      const { action } = request.body
      const now = new Date()
      const record = recordFor(request, action, now)
      const kid = await change(request.body, record, now)
      log.info({ kid, action }, 'signing key changed')
      return list()
    },
  )

  /** Returns the id of the changed key. */
  async function change(
    { action, alg, kid, jwk }: Static<typeof Change>,
    record: RecordKeyChange,
    now: Date,
  ) {
    if (action === 'rotate') return jwt.keys.rotate(alg, { record }, now)
    if (action === 'import') {
      if (!jwk) throw validationFailed('To import a key, send its private JWK as jwk')
      return jwt.keys.importKey(jwk, { record }, now)
    }
    if (kid === undefined) throw validationFailed('To revoke a key, send its kid')
    await jwt.keys.revoke(kid, { record }, now)
    return kid
  }

  function recordFor(request: FastifyRequest, action: Action, now: Date): RecordKeyChange {
    return async (trx, changed) => {
      // Key changes are serialized: the authorization is repeated after the wait.
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      const traits = { now, kid: changed.kid, ...changedKeyFields(changed) }
      await recordAdminAction(audit, trx, keyActions[action], request, traits)
      // The others are made by the server, or removed.
      if (action !== 'import') return
      const change = `${keyActions[action]}: ${changed.kid}`
      await recordServerChange(app, trx, request, { change }, now)
    }
  }

  async function list() {
    const pins = await jwt.keys.pins(new Date())
    const rows = await jwt.keys.list()
    return { keys: rows.map((row) => toSigningKey(row, pins.get(row.kid) ?? [])) }
  }
}

export default keys
