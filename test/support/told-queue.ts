/** What the job queue hears: whether somebody is to look for a job. */
import { on } from 'node:events'
import type { TestContext } from 'node:test'

import pg from 'pg'

import { idle } from './mail-journeys.ts'
import type { Built } from './server.ts'

/** Resolves once the queue is told to look for a job. */
export async function toldQueue(
  t: TestContext,
  server: Built,
): Promise<{ told: Promise<unknown> }> {
  await idle(server)
  const client = new pg.Client({ connectionString: server.database.url })
  t.after(() => client.end())
  await client.connect()
  await client.query('listen "jobs:insert"')
  return { told: untilTold(client) }
}

async function untilTold(client: pg.Client): Promise<void> {
  for await (const [{ payload }] of on(client, 'notification')) {
    if (JSON.parse(payload).count > 0) return
  }
}
