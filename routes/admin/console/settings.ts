/**
 * The configuration: every variable, the settings that can be changed at run time, and the checks of npm run doctor.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { recordSettings } from '../../../modules/access/index.ts'
import { findAdminUser, recordAdminAction } from '../../../modules/audit/index.ts'
import {
  changeSettings,
  readSettingChanges,
  readSettings,
  readVariables,
  revertChange,
} from '../../../modules/settings/index.ts'
import { SettingChanges, Settings, Variables } from '../../../schemas/console/settings.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { featureDisabled } from '../../../schemas/errors.ts'
import { readLimit, readPosition } from '../../../schemas/pagination.ts'
import { StringEnum } from '../../../schemas/values/choices.ts'

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

const settings: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/admin/config',
    { config: { minimumRole: 'operator' }, schema: readConfigSchema },
    async () => ({
      variables: readVariables(app),
    }),
  )

  app.get(
    '/admin/settings',
    { config: { minimumRole: 'operator' }, schema: readSettingsSchema },
    async () => readSettings(app, db),
  )

  app.put(
    '/admin/settings',
    { config: { minimumRole: 'owner', givesAccess: true }, schema: updateSchema },
    async (request) =>
      change(app, request, (trx, by) => changeSettings(app, trx, request.body.values, by)),
  )

  app.delete(
    '/admin/settings/:name',
    { config: { minimumRole: 'owner', givesAccess: true }, schema: deleteSchema },
    async (request) =>
      change(app, request, (trx, by) =>
        changeSettings(app, trx, { [request.params.name]: null }, by),
      ),
  )

  app.get(
    '/admin/settings/history',
    { config: { minimumRole: 'operator' }, schema: readHistorySchema },
    async ({ query }) => {
      const before = readPosition('before', query.before, 0) || undefined
      return readSettingChanges(app, db, { name: query.name, before }, readLimit(query.limit))
    },
  )

  app.post(
    '/admin/settings/history/:id/revert',
    { config: { minimumRole: 'owner', givesAccess: true }, schema: revertSchema },
    async (request) => {
      const target = { id: Number(request.params.id), force: request.body?.force ?? false }
      return change(app, request, (trx, by) => revertChange(app, trx, target, by))
    },
  )
}

type By = { changedBy: string | null; now: Date }

/** Changes settings as the admin, records the change, and returns the resulting settings. */
async function change(
  app: FastifyInstance,
  request: FastifyRequest,
  work: (trx: Trx, by: By) => Promise<Changed>,
) {
  const { audit, bearerAuth, db, runtimeSettings } = app
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    const changed = await work(trx, { changedBy: await findAdminName(trx, request), now })
    await recordAdminAction(audit, trx, 'settings_changed', request, { now, ...changed })
    await recordSettings(app, trx, request, changed.after, now)
  })
  await runtimeSettings.refresh()
  return readSettings(app, db)
}

/** Null for a service token. */
async function findAdminName(trx: Trx, { admin }: FastifyRequest): Promise<string | null> {
  const user = await findAdminUser(trx, admin)
  return user ? user.email || user.phone || user.id : null
}

const Report = Type.Object({
  passed: Type.Integer(),
  warnings: Type.Integer(),
  failed: Type.Integer(),
  results: Type.Array(
    Type.Object({
      check: Type.String(),
      level: StringEnum(['pass', 'warn', 'fail']),
      sentence: Type.String(),
    }),
  ),
})

const doctor: FastifyPluginAsyncTypebox = async (app) => {
  const { config, examine } = app

  app.get(
    '/admin/doctor',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Run the checks of npm run doctor',
        description:
          'Checks the database, the mail server and the providers, which takes some seconds.',
        tags: ['admin'],
        response: { 200: Report, ...ErrorResponses },
      },
    },
    async () => {
      if (!examine) throw featureDisabled('This server was started without these checks')
      return examine(config)
    },
  )
}

export const settingRoutes = { settings, doctor }
