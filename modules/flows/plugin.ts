/** The compiled redirect rules. */
import { defineModule } from '../../plugins/define-plugin.ts'
import { createRedirectPolicy, type RedirectPolicy } from './redirects/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    flows: RedirectPolicy
  }
}

export default defineModule('flows', createRedirectPolicy)
