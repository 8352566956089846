/** Webhooks that the environment names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Webhook } from '../../../../schemas/webhook.ts'
import { adminCall } from '../../../support/admin.ts'
import { type App, build } from '../../../support/server.ts'
import { autoconfirm } from '../../../support/users.ts'
import { webhookEnv, webhookReceiver } from '../../../support/webhooks/webhook-receiver.ts'

type Made = Webhook & { secret: string }

const path = '/admin/webhooks'

test('removes webhooks that are no longer configured at startup', async (t) => {
  const receiver = await webhookReceiver(t)
  const env = { ...autoconfirm, ...webhookEnv(receiver) }
  const { app, database } = await build(t, { env })
  const list = async (from: App) =>
    (await adminCall<{ webhooks: Webhook[] }>(from, 'GET', path)).webhooks
  const [before] = await list(app)
  const made = await adminCall<Made>(app, 'POST', path, {
    url: receiver.url,
    events: ['user.deleted'],
  })
  const again = await build(t, { env: { ...env, DATABASE_URL: database.url } })
  assert.deepEqual(
    (await list(again.app)).map(({ id }) => id),
    [before?.id, made.id],
  )
  const without = await build(t, {
    env: { ...autoconfirm, AUTH_EVENTS_ENABLED: 'true', DATABASE_URL: database.url },
  })
  assert.deepEqual(
    (await list(without.app)).map(({ id }) => id),
    [made.id],
  )
})
