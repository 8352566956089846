/** Which group of people a request is about: look-ups find nobody of another one, and whoever is made belongs to it. */
import type { FastifyRequest } from 'fastify'

import { validationFailed } from '../errors.ts'
import { defineExtension } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The one that the header X-JWT-AUD names, else AUTH_JWT_AUD. Requests with the token of a person are about the
     * audience of the token instead (bearer-auth.ts). Throws validation_failed when read, for a name that cannot be stored.
     */
    readonly audience: string
  }
}

/** Characters of the column that holds it. */
const maxAudience = 255

function audienceOf({ headers }: FastifyRequest): string | undefined {
  const asked = headers['x-jwt-aud']
  if (typeof asked !== 'string' || asked === '') return undefined
  if (asked.length > maxAudience) throw validationFailed('X-JWT-AUD names no audience')
  return asked
}

export default defineExtension({
  name: 'audience',
  needs: ['config', 'decorateRequest'],
  install(house) {
    const { AUTH_JWT_AUD } = house.config
    house.decorateRequest('audience', {
      getter(this: FastifyRequest) {
        return audienceOf(this) ?? AUTH_JWT_AUD
      },
    })
  },
})
