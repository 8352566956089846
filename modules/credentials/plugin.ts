/** The password checks in progress, and the jobs that send requested messages. */
import type { FastifyInstance } from 'fastify'

import { defineModule } from '../../plugins/define-plugin.ts'
import { createPasswordChecks } from './password.ts'
import { emailTask, handleEmailRequestJob } from './requests/email-requests.ts'
import { handleResendJob, repeatTask } from './requests/resend-sms.ts'

declare module 'fastify' {
  interface FastifyInstance {
    credentials: ReturnType<typeof createCredentials>
  }
}

function createCredentials(app: FastifyInstance) {
  app.jobQueue.addTask(emailTask, (payload) => handleEmailRequestJob(app, payload))
  app.jobQueue.addTask(repeatTask, (payload) => handleResendJob(app, payload))
  return { passwordChecks: createPasswordChecks() }
}

export default defineModule('credentials', createCredentials)
