/** Runs the journey test against a started release, with a database and a mail server of its own. */
import assert from 'node:assert/strict'
import type { spawn } from 'node:child_process'
import { once } from 'node:events'

import { emptyDatabase } from '../../support/database.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { startMailServer } from '../../support/messages/mail-server.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { isReady, needed } from '../../support/processes/server-process.ts'
import { until } from '../../support/processes/until.ts'
import { runJourney } from './journey.ts'

interface Started {
  child: ReturnType<typeof spawn>
  url: string
  codeFor: (address: string) => string | undefined
}

/** Starts, passes the journey test, and exits with 0 after SIGTERM. */
export async function passes(
  t: Ending,
  { child, url, codeFor }: Started,
  meanwhile = async () => {},
): Promise<void> {
  const ended = once(child, 'exit')
  t.after(async () => void child.kill('SIGKILL'))
  const failed = ended.then(([code]) => assert.fail(`it ended with ${code}`))
  failed.catch(() => {})
  await Promise.race([until(() => isReady(url), { seconds: 300 }), failed])
  await runJourney(url, codeFor)
  await meanwhile()
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
}

/** An empty database and a mail server, as variables of the server. */
export async function startDatabaseAndMail(t: Ending) {
  const mail = await startMailServer(t)
  const { url: DATABASE_URL } = await emptyDatabase(t)
  const PORT = String(await freePort())
  const codeFor = (address: string) => {
    const message = mail.messages.find(({ to }) => to === address)
    return message && codeIn(message)
  }
  const env = { ...needed, ...mail.env, DATABASE_URL, PORT, LOG_LEVEL: 'error' }
  return { env, url: `http://127.0.0.1:${PORT}`, codeFor }
}
