/** As much of the server as queues and sends mail. */
import Fastify from 'fastify'

import type { Config } from '../../plugins/config/config.ts'
import config from '../../plugins/config/index.ts'
import db from '../../plugins/db.ts'
import devInbox from '../../plugins/dev-inbox.ts'
import encryption from '../../plugins/encryption.ts'
import events from '../../plugins/events.ts'
import hooks from '../../plugins/hooks.ts'
import httpClient from '../../plugins/http-client.ts'
import jobQueue from '../../plugins/job-queue.ts'
import languages from '../../plugins/languages.ts'
import { mailerPlugin } from '../../plugins/mailer.ts'
import pool from '../../plugins/pool.ts'
import takeover from '../../plugins/takeover.ts'
import telemetry from '../../plugins/telemetry.ts'

export const sampleMail = {
  kind: 'confirmation' as const,
  to: 'ada@example.com',
  userId: '00000000-0000-4000-8000-00000000ada0',
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
  const plugins = [
    telemetry,
    pool,
    db,
    takeover,
    encryption,
    httpClient,
    hooks,
    languages,
    jobQueue,
    events,
    devInbox,
  ]
  for (const plugin of plugins) await app.register(plugin)
  await app.register(mailerPlugin(() => 100))
  await app.ready()
  return app
}
