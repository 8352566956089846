/** Which addresses may get emails. */
import { defineModule } from '../../plugins/define-plugin.ts'
import { type EmailPolicy, emailPolicy } from './email-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    emails: { policy: EmailPolicy }
  }
}

export default defineModule('emails', (app) => ({ policy: emailPolicy(app) }))
