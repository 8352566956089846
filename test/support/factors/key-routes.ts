/** A server with only the plugins and routes of signing keys. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify from 'fastify'

import audit from '../../../modules/audit/plugin.ts'
import events from '../../../plugins/background/events/index.ts'
import jobQueue from '../../../plugins/background/job-queue/index.ts'
import config from '../../../plugins/config.ts'
import db from '../../../plugins/database/db.ts'
import takeover from '../../../plugins/database/gotrue-migration.ts'
import pool from '../../../plugins/database/pool/index.ts'
import apiErrors from '../../../plugins/http/api-errors/index.ts'
import clientIp from '../../../plugins/http/client-info/index.ts'
import telemetry from '../../../plugins/observability/telemetry/index.ts'
import httpClient from '../../../plugins/outgoing/http-client/index.ts'
import bearerAuth from '../../../plugins/security/bearer-auth/index.ts'
import encryption from '../../../plugins/security/encryption/index.ts'
import jwt from '../../../plugins/security/jwt/index.ts'
import runtimeSettings from '../../../plugins/security/runtime-settings/index.ts'
import keys from '../../../routes/admin/keys.ts'
import { jwks, openidConfiguration } from '../../../routes/well-known/discovery.ts'
import { testConfig } from '../config.ts'
import type { Ending } from '../processes/ending.ts'

export async function buildKeyRoutes(
  t: Ending,
  databaseUrl: string,
  env: Record<string, string> = {},
) {
  const app = fastify().withTypeProvider<TypeBoxTypeProvider>()
  t.after(() => app.close())
  await app.register(config, { config: testConfig({ DATABASE_URL: databaseUrl, ...env }, false) })
  await app.register(telemetry)
  await app.register(apiErrors)
  for (const plugin of [pool, db, takeover, encryption, runtimeSettings]) await app.register(plugin)
  for (const plugin of [httpClient, jobQueue, events]) await app.register(plugin)
  for (const plugin of [jwt, bearerAuth]) await app.register(plugin)
  for (const plugin of [clientIp, audit]) await app.register(plugin)
  for (const route of [jwks, openidConfiguration]) await app.register(route)
  await app.register(async (admins) => {
    admins.addHook('onRequest', app.bearerAuth.requireAdmin)
    await admins.register(keys)
  })
  await app.ready()
  return app
}

export type KeyRoutes = Awaited<ReturnType<typeof buildKeyRoutes>>

/** An Authorization header of a user with this role. */
export async function bearer(app: KeyRoutes, role: string) {
  const token = await app.jwt.signApiToken({ role, seconds: 3600 }, new Date())
  return { authorization: `Bearer ${token}` }
}
