import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../../errors.ts'
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
    Type.Object({ kty: Type.String() }, { description: 'For import: a private JWK (RFC 7517)' }),
  ),
})

const keys: FastifyPluginAsyncTypebox = async (fastify) => {
  const { log, requireAdmin, signingKeys } = fastify

  fastify.get(
    '/admin/keys',
    {
      onRequest: requireAdmin,
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
      onRequest: requireAdmin,
      schema: {
        summary: 'Rotate, revoke or import a signing key',
        tags: ['admin'],
        body: Change,
        response: { 200: Keys, ...ErrorResponses },
      },
    },
    async (request) => {
      const { action } = request.body
      const kid = await change(request.body, new Date())
      log.info({ kid, action }, 'a signing key was changed')
      return list()
    },
  )

  /** Returns the id of the key that came or went. */
  async function change({ action, alg, kid, jwk }: Static<typeof Change>, now: Date) {
    if (action === 'rotate') return signingKeys.rotate(alg, {}, now)
    if (action === 'import') {
      if (!jwk) throw validationFailed('To import a key, send its private JWK as jwk.')
      return signingKeys.importKey(jwk, {}, now)
    }
    if (kid === undefined) throw validationFailed('To revoke a key, send its kid.')
    await signingKeys.revoke(kid, now)
    return kid
  }

  async function list() {
    return { keys: (await signingKeys.list()).map(toSigningKey) }
  }
}

export default keys
