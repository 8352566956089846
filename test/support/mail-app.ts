/** As much of the server as queues and sends mail. */
import Fastify from 'fastify'

import config from '../../plugins/config.ts'
import db from '../../plugins/db.ts'
import devInbox from '../../plugins/dev-inbox.ts'
import encryption from '../../plugins/encryption.ts'
import httpClient from '../../plugins/http-client.ts'
import jobQueue from '../../plugins/job-queue.ts'
import mailer, { type MailerOptions } from '../../plugins/mailer.ts'
import telemetry from '../../plugins/telemetry.ts'
import type { Config } from '../../schemas/config/config.ts'

export const sampleMail = {
  kind: 'confirmation' as const,
  to: 'ada@example.com',
  variables: {
    SiteURL: 'http://app.example',
    Email: 'ada@example.com',
    Data: { name: 'Ada' },
    ConfirmationURL: 'http://auth.example/verify?token=5ec7e7&type=signup',
    Token: '123456',
    TokenHash: '5ec7e7',
    RedirectTo: 'http://app.example/',
  },
}

/** Tries again after a tenth of a second. */
export async function buildMailApp(settings: Config) {
  const app = Fastify()
  await app.register(config, { config: settings })
  const plugins = [telemetry, db, encryption, httpClient, jobQueue, devInbox]
  for (const plugin of plugins) await app.register(plugin)
  const options: MailerOptions = { retryDelay: () => 100 }
  await app.register(mailer, options)
  await app.ready()
  return app
}
