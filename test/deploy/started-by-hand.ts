/** A server on its own database, with the command line and variables of a file in deploy/. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/processes/free-port.ts'
import { isReady } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'

/** Resolves when it is ready. `ended` resolves to its exit code and the signal that ended it. */
export async function startByHand(
  t: TestContext,
  [command = '', ...args]: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
) {
  const { url: DATABASE_URL } = await cloneDatabase(t)
  const PORT = String(await freePort())
  const environment = {
    DATABASE_URL,
    PORT,
    AUTH_API_HOST: '127.0.0.1',
    AUTH_DB_DRIVER: 'postgres',
    AUTH_API_EXTERNAL_URL: 'https://auth.example.com',
    AUTH_SITE_URL: 'https://app.example.com',
    AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
    AUTH_JWT_ALGORITHM: 'ES256',
    AUTH_ENCRYPTION_KEY: encryptionKey,
  }
  const child = spawn(command, args, {
    cwd,
    env: { ...environment, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  t.after(() => void child.kill('SIGKILL'))
  const failed = ended.then(([code]) => assert.fail(`it ended with ${code}`))
  failed.catch(() => {})
  await Promise.race([until(() => isReady(`http://127.0.0.1:${PORT}`)), failed])
  return { child, ended }
}
