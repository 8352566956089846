/** The audience of a request: only its users are found, and new users get it. */
import type { FastifyRequest } from 'fastify'

import { type AudienceSettings, isAllowedAudience } from '../../schemas/audience.ts'
import { validationFailed } from '../../schemas/errors.ts'
import { defineHooksPlugin } from '../define-plugin.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * From the X-JWT-AUD header, else AUTH_JWT_AUD. Requests with a user's token use the token's audience instead
     * (plugins/security/bearer-auth). Throws validation_failed when read and not allowed.
     */
    readonly audience: string
  }
}

/** Width of the column. */
const maxAudience = 255

/** An unauthenticated client must not put an arbitrary audience into a signed token. */
function readAudience(settings: AudienceSettings, { headers }: FastifyRequest): string {
  const named = headers['x-jwt-aud']
  if (typeof named !== 'string' || named === '') return settings.AUTH_JWT_AUD
  if (named.length > maxAudience || !isAllowedAudience(settings, named)) {
    throw validationFailed('X-JWT-AUD is not an audience of this server')
  }
  return named
}

export default defineHooksPlugin({
  name: 'audience',
  deps: ['config', 'decorateRequest'],
  install(deps) {
    const { config } = deps
    deps.decorateRequest('audience', {
      getter(this: FastifyRequest) {
        return readAudience(config, this)
      },
    })
  },
})
