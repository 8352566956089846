/** The server as a process of its own, as an operator runs it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Agent, get } from 'node:http'
import { tmpdir } from 'node:os'

import { SignJWT } from 'jose'

import { encryptionKey } from '../config.ts'
import { cloneDatabase } from '../database.ts'
import { wayToPrograms } from './child-environment.ts'
import type { Ending } from './ending.ts'
import { freePort } from './free-port.ts'
import { endWithUs } from './stop-with-parent.ts'
import { until } from './until.ts'

const cli = new URL('../../../cli.ts', import.meta.url).pathname

/**
 * Resolves when it is ready. It is killed when the test ends; `ended` resolves to its exit code. `program` is the
 * cli.ts of another release; the test reads the `log` pipe.
 */
export async function startServerProcess(
  t: Ending,
  env: Record<string, string>,
  {
    program = cli,
    log = 'inherit',
  }: { program?: string | undefined; log?: 'inherit' | 'pipe' } = {},
) {
  const DATABASE_URL = env.DATABASE_URL ?? (await cloneDatabase(t)).url
  const port = env.PORT ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [program, 'serve'], {
    // Away from an .env that would change what is tested.
    cwd: tmpdir(),
    stdio: ['ignore', log, 'inherit'],
    env: { ...wayToPrograms, ...needed, PORT: String(port), ...env, DATABASE_URL },
  })
  endWithUs(child)
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const failed = ended.then((code) => {
    throw new Error(`the server ended with ${code} before it was ready`)
  })
  // Later, tests stop it on purpose.
  failed.catch(() => {})
  await Promise.race([until(() => isReady(url)), failed])
  return { child, url, ended }
}

/** Required variables, and cheap hashes. */
export const needed = {
  AUTH_DB_DRIVER: 'postgres',
  AUTH_DB_MAX_POOL_SIZE: '4',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_SITE_URL: 'http://app.example',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_JWT_ALGORITHM: 'ES256',
  AUTH_ENCRYPTION_KEY: encryptionKey,
  AUTH_PASSWORD_ARGON2_MEMORY: '8192',
  AUTH_PASSWORD_ARGON2_TIME: '1',
  LOG_LEVEL: 'fatal',
}

/** A token of an admin, as the operator signs it. */
export function serviceRole(): Promise<string> {
  return new SignJWT({ role: 'service_role' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(needed.AUTH_JWT_SECRET))
}

export interface Response {
  status: number | undefined
  connection: string | undefined
}

/** GET, on the agent’s connection or a new one, which is closed so that it does not delay a shutdown. */
export function httpGet(url: string, agent?: Agent): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: agent ?? false }, (response) => {
      response.resume()
      const { statusCode: status, headers } = response
      response.once('end', () => resolve({ status, connection: headers.connection }))
    })
    request.once('error', reject)
  })
}

export async function isReady(url: string): Promise<boolean> {
  try {
    return (await httpGet(`${url}/ready`)).status === 200
  } catch {
    return false
  }
}
