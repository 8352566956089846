/** The dependencies of this module and the email policy. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { emailPolicy } from './email-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    emails: ReturnType<typeof createEmails>
  }
}

const deps = ['config', 'flows', 'mailer', 'otp'] as const

function createEmails({ config, flows, mailer, otp }: Deps<(typeof deps)[number]>) {
  return { config, flows, mailer, otp, policy: emailPolicy({ config, mailer }) }
}

export default definePlugin({ name: 'emails', deps, create: createEmails })
