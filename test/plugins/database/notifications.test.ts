import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createNotificationListener } from '../../../plugins/database/notifications/listener.ts'
import { query } from '../../db/sql.ts'
import { emptyDatabase } from '../../support/database.ts'
import { lastFirst } from '../../support/processes/ending.ts'
import { until } from '../../support/processes/until.ts'

const log = { warn() {} }

/** Two channels of one process, and what was received on them. */
async function twoChannels(url: string) {
  const received: string[] = []
  const subscribe = (channel: string) =>
    createNotificationListener(url, log)(channel, () => received.push(channel))
  const [keys, settings] = await Promise.all([subscribe('keys'), subscribe('settings')])
  return { received, keys, settings, subscribe }
}

async function connectionsTo(url: string): Promise<number> {
  const rows = await query(
    url,
    "select from pg_stat_activity where datname = current_database() and application_name = 'postern listener'",
  )
  return rows.length
}

suite('notifications', () => {
  test('all channels of a process use one connection, which closes with the last channel', async (context) => {
    const { url } = await emptyDatabase(lastFirst(context))
    const { received, keys, settings } = await twoChannels(url)
    assert.equal(await connectionsTo(url), 1)
    await query(url, 'notify keys')
    await query(url, 'notify settings')
    await until(() => received.length === 2)
    assert.deepEqual(received, ['keys', 'settings'])

    await keys.close()
    await query(url, 'notify keys')
    await query(url, 'notify settings')
    await until(() => received.length === 3)
    assert.deepEqual(received, ['keys', 'settings', 'settings'])
    await settings.close()
    await until(async () => (await connectionsTo(url)) === 0)
  })

  test('a lost connection is reported to every channel, and replaced', async (context) => {
    const { url } = await emptyDatabase(lastFirst(context))
    const { received, keys, settings, subscribe } = await twoChannels(url)
    await query(
      url,
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'postern listener'",
    )
    await until(() => !keys.isListening() && !settings.isListening())
    const again = await subscribe('keys')
    await query(url, 'notify keys')
    await until(() => received.length === 1)
    for (const listener of [keys, settings, again]) await listener.close()
    await until(async () => (await connectionsTo(url)) === 0)
  })
})
