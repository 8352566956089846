/** A command of cli/ called in this process, which is faster than a process of its own. */
import { mock } from 'node:test'

import { testConfig } from '../config.ts'

type Run = (args: readonly string[]) => Promise<void>

/** Required by each command besides DATABASE_URL. */
export const commandEnvironment = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: testConfig().AUTH_JWT_SECRET,
}

/**
 * Its output and its error message, as cli.ts prints it. `env` is added to our environment, which commands read before
 * they wait for anything. Not for concurrent use.
 */
export async function callCommand(run: Run, args: readonly string[], env: Record<string, string>) {
  const written = { stdout: '', stderr: '' }
  const store = (name: keyof typeof written) => (line: string) => {
    written[name] += `${line}\n`
  }
  const mocked = [
    mock.method(console, 'log', store('stdout')),
    mock.method(console, 'error', store('stderr')),
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

/** Our environment is restored once the command waits, so that no other code sees the change. */
function withEnvironment<T>(env: Record<string, string>, start: () => T): T {
  const ours = process.env
  process.env = { ...ours, ...env }
  try {
    return start()
  } finally {
    process.env = ours
  }
}
