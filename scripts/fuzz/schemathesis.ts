/** The fuzzer, installed in a folder that is deleted after the run. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The command that starts it. */
export interface Schemathesis {
  command: string
  args: string[]
  env: Record<string, string>
}

const requirement = 'schemathesis>=4.32,<5'

/** SCHEMATHESIS names an installed one. Throws without Python or a package index. */
export async function installSchemathesis(folder: string): Promise<Schemathesis> {
  const installed = process.env.SCHEMATHESIS
  if (installed) return { command: installed, args: [], env: {} }
  console.log('installing schemathesis')
  const target = join(folder, 'python')
  // Some systems package venv separately; a plain folder needs only pip.
  const options = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore']
  await execute('python3', ['-m', 'pip', 'install', ...options, '--target', target, requirement])
  const args = ['-c', 'from schemathesis.cli import schemathesis; schemathesis()']
  return { command: 'python3', args, env: { PYTHONPATH: target } }
}
