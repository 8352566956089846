/** A server with nothing but the plugins and routes that are about keys. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify from 'fastify'

import audit from '../../plugins/accounts/audit/index.ts'
import apiErrors from '../../plugins/api-errors.ts'
import bearerAuth from '../../plugins/bearer-auth.ts'
import clientIp from '../../plugins/client-ip.ts'
import config from '../../plugins/config/index.ts'
import db from '../../plugins/db.ts'
import encryption from '../../plugins/encryption.ts'
import events from '../../plugins/events.ts'
import httpClient from '../../plugins/http-client.ts'
import jobQueue from '../../plugins/job-queue.ts'
import jwt from '../../plugins/jwt.ts'
import pool from '../../plugins/pool.ts'
import takeover from '../../plugins/takeover.ts'
import telemetry from '../../plugins/telemetry.ts'
import keys from '../../routes/admin/keys.ts'
import jwks from '../../routes/well-known/jwks.ts'
import openidConfiguration from '../../routes/well-known/openid-configuration.ts'
import { configOf } from './config.ts'
import type { Ending } from './ending.ts'

export async function buildKeyRoutes(
  t: Ending,
  databaseUrl: string,
  env: Record<string, string> = {},
) {
  const app = fastify().withTypeProvider<TypeBoxTypeProvider>()
  t.after(() => app.close())
  await app.register(config, { config: configOf({ DATABASE_URL: databaseUrl, ...env }, false) })
  await app.register(telemetry)
  await app.register(apiErrors)
  for (const plugin of [pool, db, takeover, encryption]) await app.register(plugin)
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

/** An Authorization header of somebody with this role. */
export async function bearer(app: KeyRoutes, role: string) {
  const token = await app.jwt.signApiToken({ role, seconds: 3600 }, new Date())
  return { authorization: `Bearer ${token}` }
}
