/** The fuzzer, installed in a folder that goes with the run. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** How it is started. */
export interface Schemathesis {
  command: string
  args: string[]
  env: Record<string, string>
}

const requirement = 'schemathesis>=4.32,<5'

/** SCHEMATHESIS names one that is installed already. Throws when there is no Python or no package index. */
export async function installSchemathesis(folder: string): Promise<Schemathesis> {
  const installed = process.env.SCHEMATHESIS
  if (installed) return { command: installed, args: [], env: {} }
  console.log('installing schemathesis')
  const target = join(folder, 'python')
  // Some systems split venv off from Python; a plain folder needs pip alone.
  const options = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore']
  await execute('python3', ['-m', 'pip', 'install', ...options, '--target', target, requirement])
  const args = ['-c', 'from schemathesis.cli import schemathesis; schemathesis()']
  return { command: 'python3', args, env: { PYTHONPATH: target } }
}
