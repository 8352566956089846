/** The part of the server that queues and sends emails. */
import Fastify from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import events from '../../../plugins/background/events/index.ts'
import jobQueue from '../../../plugins/background/job-queue/index.ts'
import config from '../../../plugins/config.ts'
import db from '../../../plugins/database/db.ts'
import takeover from '../../../plugins/database/gotrue-migration.ts'
import pool from '../../../plugins/database/pool/index.ts'
import languages from '../../../plugins/localization/languages/index.ts'
import devInbox from '../../../plugins/messaging/dev-inbox.ts'
import { mailerPlugin } from '../../../plugins/messaging/mailer/index.ts'
import telemetry from '../../../plugins/observability/telemetry/index.ts'
import hooks from '../../../plugins/outgoing/hooks/index.ts'
import httpClient from '../../../plugins/outgoing/http-client/index.ts'
import encryption from '../../../plugins/security/encryption/index.ts'
import runtimeSettings from '../../../plugins/security/runtime-settings/index.ts'

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

/** Retries after a tenth of a second. */
export async function buildMailApp(settings: Config) {
  const app = Fastify()
  await app.register(config, { config: settings })
  const plugins = [
    telemetry,
    pool,
    db,
    takeover,
    encryption,
    runtimeSettings,
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
