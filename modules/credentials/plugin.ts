/** The dependencies and state of this module, and the jobs that send requested messages. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { createPasswordChecks } from './password.ts'
import { emailTask, handleEmailRequestJob } from './requests/email-requests.ts'
import { handleResendJob, repeatTask } from './requests/resend-sms.ts'

declare module 'fastify' {
  interface FastifyInstance {
    credentials: ReturnType<typeof createCredentials>
  }
}

const deps = [
  'audit',
  'bearerAuth',
  'config',
  'db',
  'emails',
  'encryption',
  'events',
  'flows',
  'hooks',
  'jobQueue',
  'languages',
  'log',
  'mailer',
  'otp',
  'passwords',
  'sessions',
  'usernames',
  'users',
] as const

function createCredentials(instance: Deps<(typeof deps)[number]>) {
  const { audit, bearerAuth, config, db, emails, encryption, events, flows, hooks } = instance
  const { jobQueue, languages, log, mailer, otp, passwords, sessions, usernames, users } = instance
  jobQueue.addTask(emailTask, (payload) => handleEmailRequestJob(instance, payload))
  jobQueue.addTask(repeatTask, (payload) => handleResendJob(instance, payload))
  return {
    ...{ audit, bearerAuth, config, db, emails, encryption, events, flows, hooks },
    ...{ jobQueue, languages, log, mailer, otp, passwords, sessions, usernames, users },
    passwordChecks: createPasswordChecks(),
  }
}

export default definePlugin({ name: 'credentials', deps, create: createCredentials })
