/** A command of cli/ called in this process, which is quicker than a process of its own. */
import { mock } from 'node:test'

import { configOf } from './config.ts'

type Run = (args: readonly string[]) => Promise<void>

/** What every command needs besides DATABASE_URL. */
export const commandEnvironment = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: configOf().AUTH_JWT_SECRET,
}

/**
 * What it wrote, and the message of its error after that, as cli.ts tells it. `env` comes on top of our environment,
 * which commands read before they wait for anything. Not for two at a time.
 */
export async function callCommand(run: Run, args: readonly string[], env: Record<string, string>) {
  const written = { stdout: '', stderr: '' }
  const keep = (name: keyof typeof written) => (line: string) => {
    written[name] += `${line}\n`
  }
  const mocked = [
    mock.method(console, 'log', keep('stdout')),
    mock.method(console, 'error', keep('stderr')),
  ]
  try {
    await withEnvironment(env, () => run(args))
    return { ...written, code: 0 }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { ...written, stderr: `${written.stderr}${error.message}\n`, code: 1 }
  } finally {
    for (const { mock } of mocked) mock.restore()
  }
}

/** Ours is back as soon as the command waits, so that nothing else sees it. */
function withEnvironment<T>(env: Record<string, string>, start: () => T): T {
  const ours = process.env
  process.env = { ...ours, ...env }
  try {
    return start()
  } finally {
    process.env = ours
  }
}
