import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findUser } from '../../../db/users/users.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import {
  changeSettings,
  readSettingChanges,
  readSettings,
  readVariables,
  revertChange,
} from '../../../modules/settings/index.ts'
import { subjectUserId } from '../../../schemas/access-token.ts'
import { SettingChanges, Settings, Variables } from '../../../schemas/console/settings.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readLimit, readPosition } from '../../../schemas/pagination.ts'

const tags = ['admin']

const Values = Type.Record(Type.String(), Type.String(), {
  description: 'By variable name, as text like in the environment',
  minProperties: 1,
})

const History = Type.Object({
  name: Type.Optional(Type.String()),
  before: Type.Optional(Type.String({ description: '`next` of the previous page' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
})

type Changed = Awaited<ReturnType<typeof changeSettings>>

const response = { 200: Settings, ...ErrorResponses }

const readConfigSchema = {
  summary: 'List every variable with its value and source; for secrets, whether they are set',
  tags,
  response: { 200: Variables, ...ErrorResponses },
}

const readSettingsSchema = {
  summary: 'List the settings that can be changed at run time',
  tags,
  response,
}

const updateSchema = {
  summary: 'Change settings, all or none',
  description:
    'Every replica applies them within seconds. Variables set in the environment are locked.',
  tags,
  body: Type.Object({ values: Values }),
  response,
}

const deleteSchema = {
  summary: 'Reset a setting to its default',
  tags,
  params: Type.Object({ name: Type.String() }),
  response,
}

const readHistorySchema = {
  summary: 'List the changes of settings, newest first',
  tags,
  querystring: History,
  response: { 200: SettingChanges, ...ErrorResponses },
}

const revertSchema = {
  summary: 'Revert a change',
  tags,
  params: Type.Object({ id: Type.String() }),
  body: Type.Union([
    Type.Object({
      force: Type.Optional(Type.Boolean({ description: 'Even if it was changed since' })),
    }),
    Type.Null(),
  ]),
  response,
}

const settings: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db } = fastify

  fastify.get('/admin/config', { schema: readConfigSchema }, async () => ({
    variables: readVariables(fastify),
  }))

  fastify.get('/admin/settings', { schema: readSettingsSchema }, async () =>
    readSettings(fastify, db),
  )

  fastify.put('/admin/settings', { schema: updateSchema }, async (request) =>
    change(fastify, request, (trx, by) => changeSettings(fastify, trx, request.body.values, by)),
  )

  fastify.delete('/admin/settings/:name', { schema: deleteSchema }, async (request) =>
    change(fastify, request, (trx, by) =>
      changeSettings(fastify, trx, { [request.params.name]: null }, by),
    ),
  )

  fastify.get('/admin/settings/history', { schema: readHistorySchema }, async ({ query }) => {
    const before = readPosition('before', query.before, 0) || undefined
    return readSettingChanges(fastify, db, { name: query.name, before }, readLimit(query.limit))
  })

  fastify.post('/admin/settings/history/:id/revert', { schema: revertSchema }, async (request) => {
    const target = { id: Number(request.params.id), force: request.body?.force ?? false }
    return change(fastify, request, (trx, by) => revertChange(fastify, trx, target, by))
  })
}

type By = { changedBy: string | null; now: Date }

/** Changes settings as the admin, records the change, and returns the resulting settings. */
async function change(
  fastify: FastifyInstance,
  request: FastifyRequest,
  work: (trx: Trx, by: By) => Promise<Changed>,
) {
  const { audit, bearerAuth, db, runtimeSettings } = fastify
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    const changed = await work(trx, { changedBy: await findAdminName(trx, request), now })
    await recordAdminAction(audit, trx, 'settings_changed', request, { now, ...changed })
  })
  await runtimeSettings.refresh()
  return readSettings(fastify, db)
}

/** Null for a service token. */
async function findAdminName(trx: Trx, { admin }: FastifyRequest): Promise<string | null> {
  const id = admin ? subjectUserId(admin) : undefined
  const user = id ? await findUser(trx, id) : undefined
  return user ? user.email || user.phone || user.id : null
}

export default settings
